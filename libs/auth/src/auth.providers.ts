import type { Abstract, Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { EventEmitterSignalBus } from './adapters/event-emitter-signal-bus';
import { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
import { NodeCryptoSource } from './adapters/node-crypto-source';
import { OpenTelemetryMetrics } from './adapters/open-telemetry-metrics';
import { SystemClock } from './adapters/system-clock';
import { UaParserDeviceDetector } from './adapters/ua-parser-device-detector';
import { AUTH_EXTRAS } from './auth.module-definition';
import { createAccountSource, createReplaceable, createSecondFactor } from './replaceables';
import {
  AccountStore,
  CredentialStore,
  LoginAttemptStore,
  SessionAttemptStore,
  UserStore,
} from './domain/ports/accounts';
import { LoginTicketStore, SecondFactor } from './domain/ports/login-tickets';
import { HistoryGrowth } from './domain/history-growth';
import { SignalBus } from './domain/ports/events';
import { ApplicationTransactions, Clock, CryptoSource, DeviceDetector, Metrics } from './domain/ports/platform';
import { PasswordHasher, TokenSource } from './domain/ports/platform';
import { SessionDirectory, SessionStore, SessionTransitions } from './domain/ports/sessions';
import { PruningStore, StoreProbe } from './domain/ports/maintenance';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './options/auth-options';
import type { AuthModuleExtras } from './options/module-extras';
import { AuthService } from './services/auth.service';
import { AccountServices } from './services/credentials/account-services';
import { Accounts } from './services/credentials/accounts';
import { AttemptSlots } from './services/credentials/attempt-slots';
import { Login } from './services/credentials/login';
import { FailedAttemptEvents } from './services/credentials/failed-attempt-events';
import { LoginAttempts } from './services/credentials/login-attempts';
import { LoginTickets } from './services/credentials/login-tickets';
import { LoginThrottle } from './services/credentials/login-throttle';
import { PasswordReplacement } from './services/credentials/password-replacement';
import { PasswordReset } from './services/credentials/password-reset';
import { Passwords } from './services/credentials/passwords';
import { SecretAttempts } from './services/credentials/secret-attempts';
import { SessionAttempts } from './services/credentials/session-attempts';
import { Reauthentication } from './services/credentials/reauthentication';
import { UserPassword } from './services/credentials/user-password';
import { WaitQueue } from './services/credentials/wait-queue';
import { AuthHealth } from './services/maintenance/auth-health';
import { EarlyTrimming } from './services/maintenance/early-trimming';
import { PruningSchedule } from './services/maintenance/pruning-schedule';
import { PruningService } from './services/maintenance/pruning.service';
import { SignalPublisher } from './services/maintenance/signal-publisher';
import { GROWTH_LIMIT } from './services/maintenance/trimming';
import { ActivityRecorder } from './services/sessions/activity-recorder';
import { Authentication } from './services/sessions/authentication';
import { ClientInspector } from './services/sessions/client-inspector';
import { CookieSessions } from './services/sessions/cookie-sessions';
import { LostCommits } from './services/sessions/lost-commits';
import { OpenSockets } from './services/sessions/open-sockets';
import { Refresh } from './services/sessions/refresh';
import { SessionAdministration } from './services/sessions/session-administration';
import { SessionLifecycle } from './services/sessions/session-lifecycle';
import { SessionOpening } from './services/sessions/session-opening';
import { SessionServices } from './services/sessions/session-services';
import { TokenIssuer } from './services/sessions/token-issuer';
import { UnconfirmedPairs } from './services/sessions/unconfirmed-pairs';
import { UserSessions } from './services/sessions/user-sessions';
import { requireDataSource, requireEmitter } from './startup-checks';
import { AccountSource } from './store/accounts/account-source';
import { PasswordTransition } from './store/accounts/password-transition';
import { SqlAccountStore } from './store/accounts/sql-account-store';
import { SqlCredentialStore } from './store/accounts/sql-credential-store';
import { SqlLoginAttemptStore } from './store/accounts/sql-login-attempt-store';
import { SqlLoginTicketStore } from './store/accounts/sql-login-ticket-store';
import { UserLocks } from './store/accounts/user-locks';
import { AUTH_DATA_SOURCE } from './store/database/data-source';
import { Database } from './store/database/database';
import { PooledDatabase } from './store/database/pooled-database';
import { SqlApplicationTransactions } from './store/database/sql-application-transactions';
import { SqlStoreProbe } from './store/database/sql-store-probe';
import { SqliteDatabase } from './store/database/sqlite-database';
import { StatementFactory } from './store/database/statement-factory';
import { EventIds } from './store/events/event-ids';
import { EventWriter } from './store/events/event-writer';
import { RevocationRunner } from './store/events/revocation-runner';
import { SqlPruningStore } from './store/retention/sql-pruning-store';
import { ActivityWriter } from './store/sessions/activity-writer';
import { RefreshTokenRotation } from './store/sessions/refresh-token-rotation';
import { SessionOpener } from './store/sessions/session-opener';
import { SessionRevocation } from './store/sessions/session-revocation';
import { SqlSessionAttemptStore } from './store/sessions/sql-session-attempt-store';
import { SqlSessionDirectory } from './store/sessions/sql-session-directory';
import { SqlSessionStore } from './store/sessions/sql-session-store';
import { SqlSessionTransitions } from './store/sessions/sql-session-transitions';
import { TokenReissue } from './store/sessions/token-reissue';

/** Returns a provider of the class or instance that the option contains, or of the default. */
function replaceableProvider(
  provide: Abstract<unknown>,
  option: 'passwordHasher' | 'deviceDetector' | 'tokenSource',
  createDefault: (options: ResolvedAuthOptions) => unknown,
): Provider {
  const useFactory = (moduleRef: ModuleRef, options: ResolvedAuthOptions): unknown => {
    const given = options[option];
    return given ? createReplaceable<unknown>(moduleRef, given) : createDefault(options);
  };
  return { provide, useFactory, inject: [ModuleRef, AUTH_OPTIONS] };
}

/** The clock, cryptography, metrics, signals, password hasher, device detector and token source. */
const PLATFORM_PROVIDERS: Provider[] = [
  { provide: Clock, useClass: SystemClock },
  { provide: CryptoSource, useClass: NodeCryptoSource },
  { provide: Metrics, useFactory: () => OpenTelemetryMetrics.load() },
  {
    provide: EventEmitterSignalBus,
    useFactory: (emitter?: EventEmitter2) => new EventEmitterSignalBus(requireEmitter(emitter)),
    inject: [{ token: EventEmitter2, optional: true }],
  },
  {
    provide: SignalBus,
    useFactory: (...[bus, transactions, sockets, metrics]: ConstructorParameters<typeof SignalPublisher>) =>
      new SignalPublisher(bus, transactions, sockets, metrics),
    inject: [EventEmitterSignalBus, ApplicationTransactions, OpenSockets, Metrics],
  },
  replaceableProvider(PasswordHasher, 'passwordHasher', ({ bcryptCost }) => new BcryptPasswordHasher(bcryptCost)),
  replaceableProvider(DeviceDetector, 'deviceDetector', () => UaParserDeviceDetector.load()),
  replaceableProvider(TokenSource, 'tokenSource', () => null),
];

const DATABASE_PROVIDERS: Provider[] = [
  {
    provide: Database,
    useFactory: (
      found: DataSource | undefined,
      extras: Required<AuthModuleExtras>,
      options: ResolvedAuthOptions,
      metrics: Metrics,
    ) => {
      const { dataSource, dialect } = requireDataSource(found, extras.dataSource, options.users === undefined);
      const pooled = (): Database => new PooledDatabase(dataSource, dialect, options.namedStatements);
      const database = dialect === 'sqlite' ? new SqliteDatabase(dataSource) : pooled();
      database.onFailure = (kind) => metrics.count('session_auth.database.errors', 1, { 'error.type': kind });
      return database;
    },
    inject: [{ token: AUTH_DATA_SOURCE, optional: true }, AUTH_EXTRAS, AUTH_OPTIONS, Metrics],
  },
  {
    provide: StatementFactory,
    useFactory: (
      dataSource: DataSource,
      { dialect }: Database,
      { sql }: AccountSource,
      { idleTimeoutSeconds, absoluteTimeoutSeconds, history }: ResolvedAuthOptions,
    ) =>
      new StatementFactory(dataSource, dialect, sql, {
        idleMs: idleTimeoutSeconds * 1000,
        absoluteMs: absoluteTimeoutSeconds * 1000,
        retentionMs: history.retentionDays * 86_400_000,
      }),
    inject: [AUTH_DATA_SOURCE, Database, AccountSource, AUTH_OPTIONS],
  },
  { provide: ApplicationTransactions, useClass: SqlApplicationTransactions },
  { provide: StoreProbe, useClass: SqlStoreProbe },
  { provide: PruningStore, useClass: SqlPruningStore },
  {
    provide: HistoryGrowth,
    useFactory: ({ history }: ResolvedAuthOptions) => new HistoryGrowth(Math.min(history.maxRowsPerUser, GROWTH_LIMIT)),
    inject: [AUTH_OPTIONS],
  },
  EventIds,
  EventWriter,
  RevocationRunner,
];

const ACCOUNT_PROVIDERS: Provider[] = [
  {
    provide: AccountSource,
    useFactory: createAccountSource,
    inject: [ModuleRef, AUTH_OPTIONS, AUTH_DATA_SOURCE, Database, Clock, CryptoSource],
  },
  { provide: UserStore, useFactory: ({ users }: AccountSource) => users, inject: [AccountSource] },
  { provide: AccountStore, useClass: SqlAccountStore },
  { provide: CredentialStore, useClass: SqlCredentialStore },
  { provide: LoginAttemptStore, useClass: SqlLoginAttemptStore },
  { provide: LoginTicketStore, useClass: SqlLoginTicketStore },
  { provide: SessionAttemptStore, useClass: SqlSessionAttemptStore },
  UserLocks,
  PasswordTransition,
];

const CREDENTIAL_PROVIDERS: Provider[] = [
  {
    provide: WaitQueue,
    useFactory: ({ hashing }: ResolvedAuthOptions) => new WaitQueue(hashing),
    inject: [AUTH_OPTIONS],
  },
  Passwords,
  AttemptSlots,
  FailedAttemptEvents,
  LoginThrottle,
  LoginAttempts,
  SessionAttempts,
  { provide: SecondFactor, useFactory: createSecondFactor, inject: [ModuleRef, AUTH_OPTIONS] },
  LoginTickets,
  Login,
  PasswordReplacement,
  PasswordReset,
  Reauthentication,
  SecretAttempts,
  UserPassword,
  Accounts,
  AccountServices,
];

const SESSION_PROVIDERS: Provider[] = [
  { provide: SessionStore, useClass: SqlSessionStore },
  { provide: SessionTransitions, useClass: SqlSessionTransitions },
  { provide: SessionDirectory, useClass: SqlSessionDirectory },
  ActivityWriter,
  RefreshTokenRotation,
  SessionOpener,
  TokenReissue,
  SessionRevocation,
  ActivityRecorder,
  Authentication,
  ClientInspector,
  CookieSessions,
  OpenSockets,
  LostCommits,
  Refresh,
  SessionAdministration,
  SessionLifecycle,
  SessionOpening,
  SessionServices,
  TokenIssuer,
  UnconfirmedPairs,
  UserSessions,
];

const MAINTENANCE_PROVIDERS: Provider[] = [AuthHealth, EarlyTrimming, PruningSchedule, PruningService];

/** The providers of the services, the stores and the platform. */
export const AUTH_PROVIDERS: Provider[] = [
  ...PLATFORM_PROVIDERS,
  ...DATABASE_PROVIDERS,
  ...ACCOUNT_PROVIDERS,
  ...CREDENTIAL_PROVIDERS,
  ...SESSION_PROVIDERS,
  ...MAINTENANCE_PROVIDERS,
  AuthService,
];
