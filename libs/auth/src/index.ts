// The module
export { AuthModule, type AuthModuleAsyncOptions, type AuthModuleRootOptions } from './auth.module';
export { AuthSetupError } from './startup-checks';
export {
  type AccountBlock,
  AUTH_OPTIONS,
  type AuthModuleExtras,
  type AuthModuleOptions,
  type PasswordCheck,
  type Replaceable,
  type ResolvedAuthOptions,
} from './options/auth-options';
export { AuthOptionsError, DEFAULT_OPTIONS } from './options/resolve-options';

// The service
export { AuthHealth, type AuthHealthReport } from './retention/health';
export type { FailureKind, NotWritableKind } from './base/telemetry';
export { AuthService, type AuthInTransaction } from './auth.service';
export type { AuthPrincipal } from './sessions/authenticate';
export type { ExternalPrincipal } from './sessions/external-principal';
export { ApiKeys, type ApiKeyInfo, type CreatedApiKey, type NewApiKey } from './sessions/api-keys';
export { type TransactionManager } from './database/joined-transaction';
export { PasswordHasher } from './adapters/password-hasher';
export { FormerTokens, type FormerToken } from './adapters/former-tokens';
export { RealmResolver } from './adapters/realm';
export { TokenSource, type PresentedToken, type TransportCall } from './adapters/token-source';
export { DeviceDetector, type DeviceInfo, type DeviceType } from './adapters/device-detector';
export { OpenSockets } from './sessions/open-sockets';
export { PruningService, type PruneReport } from './retention/pruning.service';
export type { Impersonation } from './sessions/impersonate';
export {
  SessionAdministration,
  type AdministeredSession,
  type AdministrationInTransaction,
  type Administrator,
  type ResultPage,
  type SessionFilter,
} from './sessions/administration';
export type { Credentials } from './login/login';
export type { PasswordChange, PasswordResetToken } from './passwords/replace-password';
export { AuthEvents, type AuthEventOfUser, type AuthEventsPage, type AuthEventsRequest } from './accounts/auth-events';
export type {
  CreatedUser,
  CreateUserOptions,
  ExportedSession,
  ExportedUserData,
  UserToCreate,
} from './accounts/accounts';
export type { GivenProofs } from './sessions/session';
export type { OpenedSession, TokenPair } from './tokens/tokens';
export type { AuthEventEntry, HistoryRequest } from './history/history';
export { AuthError, type AuthErrorCode, type FieldErrors, VerificationUnavailable } from './base/errors';
export type { AuthEventName, EndReason, SessionState } from './database/entities';

// HTTP
export { AuthController, PasswordController, ReauthenticationController } from './http/auth.controller';
export { SessionsController } from './http/sessions.controller';
export { AuthCookies } from './http/cookies/auth-cookies';
export { BearerAuthGuard } from './http/bearer-auth.guard';
export { AuthErrorFilter } from './http/wire-format';
export {
  AllowApiKey,
  CurrentPrincipal,
  CurrentSession,
  CurrentUser,
  OnAuthSignal,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  RequireRoles,
} from './http/decorators';
export { isPublicRoute } from './http/route-rules';
export { rememberHandshake, socketAccessToken, type Handshake } from './http/transports';
export { clientInfoOf, type AuthRequest, type AuthResponse } from './http/request';

// Signals
export type { AuthSignalName, AuthSignals, BlockScope, SessionInfo } from './history/signals';

// Replaceable classes
export { ImpersonationPolicy, type ImpersonationRequest } from './adapters/impersonation-policy';
export {
  LoginPolicy,
  type LoginDecision,
  type LoginRefusal,
  type ProvenLogin,
  type SessionData,
  type SessionDataPatch,
  type SessionTerms,
} from './adapters/login-policy';
export { SecondFactor, type ClientInfo, type IdentifiedUser } from './adapters/second-factor';
export { UserStore, type NewUser, type StoredUser, type UserEntityMapping, type UserId } from './adapters/user-store';
export type { RequestUser } from './adapters/user-store';
export { Argon2PasswordHasher, type Argon2Parameters } from './adapters/hashers/argon2-password-hasher';
export { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
export { DjangoPbkdf2Hashes } from './adapters/hashers/django-pbkdf2-hashes';
export { FormerHashes, MigratingPasswordHasher } from './adapters/hashers/migrating-password-hasher';
export { type PasswordKey, PrehashedBcryptPasswordHasher } from './adapters/hashers/prehashed-bcrypt-password-hasher';
export { foldName, type NameMatching } from './base/fields';

// The database
export {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  AuthApiKey,
  AuthEvent,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthPasswordReset,
  AuthSession,
  AuthUser,
  AuthUserLock,
} from './database/entities';
export { AUTH_MIGRATIONS, AUTH_MIGRATIONS_WITHOUT_USERS } from './database/migrations';
export { type AuthTablesOptions, withAuthTables } from './database/with-auth-tables';
