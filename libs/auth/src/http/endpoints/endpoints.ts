import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { MOUNTED_IF, type MountCondition, type MountSettings } from '../guards/optional-route.guard';
import { IS_PUBLIC } from '../guards/route-access';
import { DESCRIPTION, type Description } from './auth-endpoint.decorator';
import { AuthController } from './auth.controller';
import { PasswordController } from './password.controller';
import { ReauthenticationController } from './reauthentication.controller';
import { SessionsController } from './sessions.controller';

export const AUTH_CONTROLLERS = [
  AuthController,
  SessionsController,
  PasswordController,
  ReauthenticationController,
] as const;

/** An endpoint, as its decorators declare it. */
export interface Endpoint extends Description {
  readonly controller: (typeof AUTH_CONTROLLERS)[number];
  /** The name of its method. */
  readonly handler: string;
  readonly method: string;
  /** Relative to the mount path, with `:name` for parameters. */
  readonly path: string;
  readonly isPublic: boolean;
  readonly isMounted: MountCondition;
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
          isMounted: read<MountCondition>(MOUNTED_IF) ?? (() => true),
        }
      : [];
  });
});

/**
 * Returns the controllers to mount.
 * @param settings null where they are not known before the start: `OptionalRouteGuard` decides then
 */
export function mountedControllers(settings: MountSettings | null): Type[] {
  const mounted = ENDPOINTS.filter(({ isMounted }) => settings === null || isMounted(settings));
  return [...new Set<Type>(mounted.map(({ controller }) => controller))];
}
