import { availableParallelism } from 'node:os';
import type { AuthModuleExtras, ResolvedAuthOptions } from './auth-options';

/** The defaults, in one place. `idleTimeoutSeconds` follows the refresh TTL where that is set. */
export const DEFAULT_OPTIONS: ResolvedAuthOptions = {
  sessionPolicy: 'multi',
  maxSessions: 5,
  onSessionLimit: 'revoke_oldest',
  rotateRefreshTokens: true,
  refreshReuseGraceSeconds: 0,
  trackIps: true,
  trackUserAgents: true,
  trackDevices: true,
  accessTokenTtlSeconds: 900,
  refreshTokenTtlSeconds: 604_800,
  absoluteTimeoutSeconds: 2_592_000,
  idleTimeoutSeconds: 604_800,
  activityIntervalSeconds: 60,
  failedLogins: { signalAt: 5, throttleFrom: 10, windowSeconds: 300 },
  hashing: { concurrent: availableParallelism(), waiting: 64 },
  recentLogin: { endpoint: false, toEndSessionsSeconds: false },
  passwordPolicy: { minLength: 15, check: undefined },
  passwordResetTtlSeconds: 3600,
  revokeOnPasswordChange: true,
  revokeOnPasswordReset: true,
  bcryptCost: 12,
  history: { retentionDays: 90, maxRowsPerUser: 1000 },
  pruneIntervalSeconds: 3600,
  socketCheckIntervalSeconds: 30,
  namedStatements: true,
  nameMatching: 'exact',
  users: undefined,
  passwordHasher: undefined,
  deviceDetector: undefined,
  tokenSource: undefined,
};

export const DEFAULT_EXTRAS: Required<Omit<AuthModuleExtras, 'dataSource'>> & { dataSource: string } = {
  path: 'auth',
  controllers: true,
  globalGuard: false,
  dataSource: 'default',
  isGlobal: true,
};
