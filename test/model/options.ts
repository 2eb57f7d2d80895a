import * as fc from 'fast-check';

/** The short times that every run has. */
export const SECONDS = { access: 60, refresh: 600, idle: 900, absolute: 3600, activity: 60, failures: 300 } as const;
export const RETENTION_DAYS = 1;
export const SIGNAL_AT = 2;

/** What differs between runs. */
export interface ModelOptions {
  readonly sessionPolicy: 'multi' | 'single' | 'max_count';
  readonly maxSessions: number;
  readonly onSessionLimit: 'revoke_oldest' | 'reject';
  readonly rotateRefreshTokens: boolean;
  readonly refreshReuseGraceSeconds: number;
  readonly revokeOnPasswordChange: boolean;
  readonly throttleFrom: number | false;
  readonly maxRowsPerUser: number;
}

export const options: fc.Arbitrary<ModelOptions> = fc
  .record({
    sessionPolicy: fc.constantFrom('multi' as const, 'single' as const, 'max_count' as const, 'max_count' as const),
    maxSessions: fc.integer({ min: 2, max: 3 }),
    onSessionLimit: fc.constantFrom('revoke_oldest' as const, 'reject' as const),
    // Without rotation a grace period is an error at the start.
    tokens: fc.constantFrom(
      { rotateRefreshTokens: true, refreshReuseGraceSeconds: 0 },
      { rotateRefreshTokens: true, refreshReuseGraceSeconds: 10 },
      { rotateRefreshTokens: false, refreshReuseGraceSeconds: 0 },
    ),
    revokeOnPasswordChange: fc.constantFrom(true, true, false),
    throttleFrom: fc.constantFrom(false as const, 3),
    maxRowsPerUser: fc.constantFrom(1000, 6),
  })
  .map(({ tokens, ...rest }) => ({ ...rest, ...tokens }));
