import type { SessionLimits } from '../domain/session';
import type { ResolvedAuthOptions } from '../options/auth-options';

/** The limits in force. */
export function limitsOf({ idleTimeoutSeconds, absoluteTimeoutSeconds }: ResolvedAuthOptions): SessionLimits {
  return { idleMs: idleTimeoutSeconds * 1000, absoluteMs: absoluteTimeoutSeconds * 1000 };
}
