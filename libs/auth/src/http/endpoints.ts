import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import type { ModulesContainer } from '@nestjs/core';
import { AuthController } from './auth.controller';
import { type Description, DESCRIPTION } from './openapi';
import { PasswordController, ReauthenticationController } from './password.controller';
import { type MountCondition, MOUNTED_IF, type MountSettings } from './platform';
import { IS_PUBLIC } from './route-rules';
import { SessionsController } from './sessions.controller';

export const AUTH_CONTROLLERS = [
  AuthController,
  SessionsController,
  PasswordController,
  ReauthenticationController,
] as const;

/** An endpoint, as its decorators describe it. */
export interface Endpoint extends Description {
  readonly controller: (typeof AUTH_CONTROLLERS)[number];
  /** The name of the controller method. */
  readonly handler: string;
  readonly method: string;
  /** The path relative to the mount path, with `:name` for parameters. */
  readonly path: string;
  readonly isPublic: boolean;
}

/** Every endpoint of the library. */
export const ENDPOINTS: readonly Endpoint[] = AUTH_CONTROLLERS.flatMap((controller) => {
  const handlers = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype));
  return handlers.flatMap(([handler, { value }]) => {
    const read = <T>(key: string): T | undefined => Reflect.getMetadata(key, value as object) as T | undefined;
    const description = read<Description>(DESCRIPTION);
    return description
      ? {
          ...description,
          controller,
          handler,
          method: RequestMethod[read<RequestMethod>(METHOD_METADATA)!],
          path: read<string>(PATH_METADATA)!,
          isPublic: read<boolean>(IS_PUBLIC) ?? false,
        }
      : [];
  });
});

/** Returns the endpoints of the controllers that are mounted with the given settings. */
export function mountedEndpoints(settings: MountSettings): Endpoint[] {
  return ENDPOINTS.filter(({ controller }) => isMounted(controller, settings));
}

/**
 * Removes from a module the controllers that are not mounted with the given settings. Call this function
 * while Nest creates the providers of the module, before Nest creates the controllers and routes.
 * @param module the class of the module
 */
export function unmountControllers(modules: ModulesContainer, module: unknown, settings: MountSettings): void {
  for (const { metatype, controllers } of modules.values()) {
    if (metatype !== module) continue;
    for (const controller of AUTH_CONTROLLERS) if (!isMounted(controller, settings)) controllers.delete(controller);
  }
}

function isMounted(controller: Type, settings: MountSettings): boolean {
  const condition = Reflect.getOwnMetadata(MOUNTED_IF, controller) as MountCondition | undefined;
  return condition?.(settings) ?? true;
}
