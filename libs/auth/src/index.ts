// The module
export { AuthModule } from './auth.module';
export type { AuthModuleAsyncOptions, AuthModuleRootOptions } from './auth.module-definition';
export { AuthSetupError } from './host-checks';
export { AUTH_OPTIONS } from './options/auth-options';
export type {
  AuthModuleExtras,
  AuthModuleOptions,
  PasswordCheck,
  Replaceable,
  ResolvedAuthOptions,
} from './options/auth-options';
export { AuthOptionsError } from './options/resolve-options';

// The service
export { AuthHealth } from './services/auth-health';
export type { AuthHealthReport } from './services/auth-health';
export { AuthService } from './services/auth.service';
export type { AuthInTransaction } from './services/auth.service';
export type { AuthPrincipal } from './services/authentication';
export type { TransactionManager } from './domain/ports/host-transactions';
export { OpenSockets } from './services/open-sockets';
export { PruningService } from './services/pruning.service';
export { SessionAdministration } from './services/session-administration';
export type {
  AdministeredSession,
  AdministrationInTransaction,
  Administrator,
  Page,
  SessionFilter,
} from './services/session-administration';
export type { PruneReport } from './services/pruning.service';
export type { Credentials } from './services/login';
export type { CreatedUser, PasswordChange, PasswordResetToken } from './services/passwords';
export type { ClientInfo } from './domain/client';
export type { OpenedSession, TokenPair } from './domain/token-pair';
export type { AuthEventEntry, AuthEventName } from './domain/auth-event';
export { AuthError } from './domain/errors';
export type { AuthErrorCode, FieldErrors } from './domain/errors';
export type { EndReason, Session, SessionState } from './domain/session';
export type { Device, DeviceType } from './domain/device';

// HTTP
export { AuthController } from './http/auth.controller';
export { SessionsController } from './http/sessions.controller';
export { PasswordController } from './http/password.controller';
export { BearerAuthGuard } from './http/bearer-auth.guard';
export { AuthErrorFilter } from './http/auth-error.filter';
export {
  CurrentSession,
  CurrentUser,
  IS_PUBLIC,
  isPublic,
  OnAuthSignal,
  Public,
  RECENT_LOGIN,
  RequireRecentLogin,
} from './http/decorators';
export { keepHandshake, tokenOfSocket } from './http/handshake';
export type { Handshake } from './http/handshake';
export { clientOf } from './http/request';
export type { AuthRequest } from './http/request';

// Signals
export type { AuthSignalName, AuthSignals } from './domain/signals';

// What can be replaced
export { UserStore } from './domain/ports/user-store';
export type { NewUser, StoredUser, UserEntityMapping, UserId } from './domain/ports/user-store';
export { PasswordHasher } from './domain/ports/password-hasher';
export { Argon2PasswordHasher } from './adapters/argon2-password-hasher';
export type { Argon2Work } from './adapters/argon2-password-hasher';
export { BcryptPasswordHasher } from './adapters/bcrypt-password-hasher';
export { DjangoPbkdf2Hashes } from './adapters/django-pbkdf2-hashes';
export { FormerHashes, MigratingPasswordHasher } from './adapters/migrating-password-hasher';
export { PrehashedBcryptPasswordHasher } from './adapters/prehashed-bcrypt-password-hasher';
export { TokenSource } from './domain/ports/token-source';
export type { PresentedToken, TransportCall } from './domain/ports/token-source';
export { DeviceDetector } from './domain/ports/device-detector';
export { foldName } from './domain/username';
export type { NameMatching } from './domain/username';

// The database
export {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  AuthEvent,
  AuthLoginFailure,
  AuthPasswordReset,
  AuthRefreshToken,
  AuthSession,
  AuthUser,
  AuthUserLock,
} from './store/entities';
export { AUTH_MIGRATIONS, AUTH_MIGRATIONS_WITHOUT_USERS } from './store/migrations';
