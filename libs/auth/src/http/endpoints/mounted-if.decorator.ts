import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { AuthService } from '../../services/auth.service';

/** The metadata key of `@MountedIf()`. */
export const MOUNTED_IF = 'nestjs-session-auth:mounted-if';

/** The settings that decide which optional routes are mounted. */
export type MountSettings = Pick<AuthService, 'canSetPasswords' | 'canReauthenticate'>;

export type MountCondition = (settings: MountSettings) => boolean;

/** Mounts a controller of the library only if the condition is true. */
export const MountedIf = (condition: MountCondition): CustomDecorator<string> => SetMetadata(MOUNTED_IF, condition);
