import type { TokenTransport } from '../domain/refresh-decision';
import type { ResolvedAuthOptions } from './auth-options';

/** For browsers: tabs share cookies and refresh at the same moment, and a page that is left loses its response. */
const COOKIE_GRACE_SECONDS = 10;

type GraceOptions = Pick<ResolvedAuthOptions, 'refreshReuseGraceSeconds' | 'rotateRefreshTokens'>;

/** The grace period in force after a refresh over this transport, in seconds; 0 for none. */
export function graceSecondsFor(options: GraceOptions, transport: TokenTransport): number {
  const { refreshReuseGraceSeconds: written, rotateRefreshTokens } = options;
  if (written !== undefined) return written;
  return transport === 'cookie' && rotateRefreshTokens ? COOKIE_GRACE_SECONDS : 0;
}
