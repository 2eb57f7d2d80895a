import type { TokenTransport } from '../domain/refresh-decision';
import type { ResolvedAuthOptions } from './auth-options';

/**
 * The default for cookies with rotation, in seconds. Tabs of a browser share the cookies and can refresh at the same
 * time, and a page that the user leaves loses its response.
 */
const COOKIE_GRACE_SECONDS = 10;

type GraceOptions = Pick<ResolvedAuthOptions, 'refreshReuseGraceSeconds' | 'rotateRefreshTokens'>;

/** Returns the grace period after a refresh over this transport, in seconds, or 0 for none. */
export function graceSecondsFor(options: GraceOptions, transport: TokenTransport): number {
  const { refreshReuseGraceSeconds: configured, rotateRefreshTokens } = options;
  if (configured !== undefined) return configured;
  return transport === 'cookie' && rotateRefreshTokens ? COOKIE_GRACE_SECONDS : 0;
}
