// The module
export { AuthModule } from './auth.module';
export type { AuthModuleAsyncOptions, AuthModuleRootOptions } from './auth.module-definition';
export { AuthSetupError } from './startup-checks';
export {
  AUTH_OPTIONS,
  type AuthModuleOptions,
  type CookieMode,
  type PasswordCheck,
  type Replaceable,
  type ResolvedAuthOptions,
} from './options/auth-options';
export type { AuthModuleExtras } from './options/module-extras';
export { AuthOptionsError } from './options/problems';
export { DEFAULT_OPTIONS } from './options/resolve-options';

// The service
export { AuthHealth, type AuthHealthReport } from './services/maintenance/auth-health';
export type { FailureKind, NotWritableKind } from './domain/metrics';
export { AuthService, type AuthInTransaction } from './services/auth.service';
export type { AuthPrincipal } from './services/sessions/authentication';
export {
  type TransactionManager,
  PasswordHasher,
  TokenSource,
  type PresentedToken,
  type TransportCall,
  DeviceDetector,
} from './domain/ports/platform';
export { OpenSockets } from './services/sessions/open-sockets';
export { PruningService, type PruneReport } from './services/maintenance/pruning.service';
export {
  SessionAdministration,
  type AdministeredSession,
  type AdministrationInTransaction,
  type Administrator,
  type ResultPage,
  type SessionFilter,
} from './services/sessions/session-administration';
export type { Credentials } from './services/credentials/login';
export type { PasswordChange } from './services/credentials/user-password';
export type { PasswordResetToken } from './services/credentials/password-reset';
export type { CreatedUser, CreateUserOptions, UserToCreate } from './services/credentials/accounts';
export type { ClientInfo } from './domain/client';
export type { OpenedSession, TokenPair } from './domain/tokens';
export type { HistoryRequest } from './services/sessions/user-sessions';
export type { AuthEventEntry, AuthEventName } from './domain/auth-event';
export { AuthError, type AuthErrorCode, type FieldErrors } from './domain/errors';
export type { SessionData } from './domain/proofs';
export type { EndReason, SessionInfo, SessionState } from './domain/session';
export type { DeviceInfo, DeviceType } from './domain/device';

// HTTP
export { AuthController } from './http/endpoints/auth.controller';
export { SessionsController } from './http/endpoints/sessions.controller';
export { PasswordController } from './http/endpoints/password.controller';
export { ReauthenticationController } from './http/endpoints/reauthentication.controller';
export { AuthCookies } from './http/cookies/auth-cookies';
export { BearerAuthGuard } from './http/guards/bearer-auth.guard';
export { AuthErrorFilter } from './http/endpoints/auth-error.filter';
export {
  CurrentSession,
  CurrentUser,
  OnAuthSignal,
  OptionalAuth,
  Public,
  RequireRecentLogin,
} from './http/guards/decorators';
export { isPublicRoute } from './http/guards/route-access';
export { rememberHandshake, socketAccessToken, type Handshake } from './http/guards/token-extraction';
export { clientInfoOf, type AuthRequest, type AuthResponse } from './http/platform/request';

// Signals
export type { AuthSignalName, AuthSignals } from './domain/signals';

// Replaceable classes
export { SecondFactor } from './domain/ports/login-tickets';
export { UserStore, type NewUser, type StoredUser, type UserEntityMapping, type UserId } from './domain/ports/accounts';
export { Argon2PasswordHasher, type Argon2Parameters } from './adapters/hashers/argon2-password-hasher';
export { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
export { DjangoPbkdf2Hashes } from './adapters/hashers/django-pbkdf2-hashes';
export { FormerHashes, MigratingPasswordHasher } from './adapters/hashers/migrating-password-hasher';
export { PrehashedBcryptPasswordHasher } from './adapters/hashers/prehashed-bcrypt-password-hasher';
export { foldName, type NameMatching } from './domain/username';

// The database
export {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  AuthEvent,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthPasswordReset,
  AuthSession,
  AuthUser,
  AuthUserLock,
} from './store/entities';
export { AUTH_MIGRATIONS, AUTH_MIGRATIONS_WITHOUT_USERS } from './store/migrations';
export type { AccountBlock, BlockScope } from './domain/failure-streak';
