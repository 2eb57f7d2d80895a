import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { IS_PUBLIC } from '../guards/decorators';
import { MOUNTED_IF, type MountCondition } from '../guards/optional-route.guard';
import { DESCRIPTION, type Description } from './auth-endpoint.decorator';
import { AuthController } from './auth.controller';
import { PasswordController } from './password.controller';
import { SessionsController } from './sessions.controller';

export const AUTH_CONTROLLERS = [AuthController, SessionsController, PasswordController] as const;

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
