import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { AuthService } from '../../services/auth.service';

/** The metadata key of `@MountedIf()`. */
export const MOUNTED_IF = 'nestjs-session-auth:mounted-if';

/** What the optional routes depend on. */
export type MountSettings = Pick<AuthService, 'canSetPasswords' | 'canReauthenticate'>;

export type MountCondition = (settings: MountSettings) => boolean;

/** Mounts a controller of the library only where the condition holds. */
export const MountedIf = (condition: MountCondition): CustomDecorator<string> => SetMetadata(MOUNTED_IF, condition);
