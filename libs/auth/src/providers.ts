import type { Abstract, Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { Accounts } from './accounts/accounts';
import { AccountStore, SqlAccountStore } from './accounts/forget-user';
import { DeviceDetector } from './adapters/device-detector';
import { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
import { PasswordHasher } from './adapters/password-hasher';
import { NoSecondFactor, SecondFactor } from './adapters/second-factor';
import { TokenSource } from './adapters/token-source';
import { UaParserDeviceDetector } from './adapters/ua-parser-device-detector';
import { type NewUser, UserStore } from './adapters/user-store';
import { AuthService } from './auth.service';
import { Clock, SystemClock } from './base/clock';
import { CryptoSource, NodeCryptoSource } from './base/random';
import { Metrics, OpenTelemetryMetrics } from './base/telemetry';
import { Database } from './database/database';
import { ApplicationTransactions, SqlApplicationTransactions } from './database/joined-transaction';
import { PooledDatabase } from './database/pooled-database';
import { SqliteDatabase } from './database/sqlite-database';
import { StatementFactory } from './database/statements';
import { AUTH_DATA_SOURCE } from './database/typeorm';
import { ClientInspector } from './history/client';
import { EventIds, EventWriter, HistoryGrowth, RevocationRunner } from './history/event-log';
import { EventEmitterSignalBus, SignalBus, SignalPublisher } from './history/signal-publisher';
import { AccountServices } from './login/account-services';
import { Login, LoginAttempts } from './login/login';
import { ApplicationSecondFactor, LoginTickets, LoginTicketStore, SqlLoginTicketStore } from './login/login-tickets';
import { SecretAttempts } from './login/second-factor';
import {
  AUTH_EXTRAS,
  AUTH_OPTIONS,
  type AuthModuleExtras,
  type Replaceable,
  type ResolvedAuthOptions,
} from './options/auth-options';
import { AuthOptionsError } from './options/resolve-options';
import { UserPassword } from './passwords/change-password';
import { WaitQueue } from './passwords/hash-queue';
import { Reauthentication } from './passwords/in-session';
import { Passwords } from './passwords/passwords';
import { PasswordReplacement, PasswordTransition, SqlCredentialStore } from './passwords/replace-password';
import { PasswordReset } from './passwords/reset-password';
import { SessionAttempts } from './passwords/session-attempts';
import { EarlyTrimming } from './retention/early-trimming';
import { AuthHealth, SqlStoreProbe, StoreProbe } from './retention/health';
import { GROWTH_LIMIT, PruningStore, SqlPruningStore } from './retention/prune';
import { PruningSchedule, PruningService } from './retention/pruning.service';
import { ActivityWriter } from './sessions/activity';
import { ActivityRecorder } from './sessions/activity-recorder';
import { SessionAdministration, SessionDirectory, SqlSessionDirectory } from './sessions/administration';
import { Authentication, CookieSessions } from './sessions/authenticate';
import { SessionRevocation } from './sessions/end-sessions';
import { SessionLifecycle } from './sessions/lifecycle';
import { SessionStore, SqlSessionStore } from './sessions/look-up';
import { SessionOpener, SessionOpening } from './sessions/open-session';
import { OpenSockets } from './sessions/open-sockets';
import { UserSessions } from './sessions/own-sessions';
import { LostCommits, Refresh } from './sessions/refresh';
import { TokenReissue } from './sessions/reissue';
import { RefreshTokenRotation } from './sessions/rotate';
import { SessionServices } from './sessions/session-services';
import { SqlSessionTransitions } from './sessions/sql-transitions';
import { SessionTransitions } from './sessions/transitions';
import { UnconfirmedPairs } from './sessions/unconfirmed-pairs';
import { requireDataSource, requireEmitter } from './startup-checks';
import { AttemptSlots } from './throttle/attempt-slots';
import { SessionAttemptStore, SqlSessionAttemptStore } from './throttle/sql-session-attempt-store';
import { FailedAttemptEvents, LoginAttemptStore, LoginThrottle, SqlLoginAttemptStore } from './throttle/throttle';
import { TokenIssuer } from './tokens/tokens';
import { EntityUserStore, UserTable } from './users/entity-users';
import { ApplicationUserStore } from './users/external-users';
import { mappingProblems } from './users/mapping-problems';
import { UserLocks } from './users/user-lock';
import {
  AccountSource,
  CredentialStore,
  ExternalAccounts,
  JoinedAccounts,
  OWN_NAME_KEY,
  OWN_USERS,
  refuseProperties,
} from './users/users';

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

/**
 * Returns the source of the accounts that the option `users` selects: the library's own entity, a mapped entity, or
 * the application's `UserStore`.
 * @throws AuthOptionsError if the mapping does not fit the entity
 */
export async function createAccountSource(
  moduleRef: ModuleRef,
  { users, nameMatching }: ResolvedAuthOptions,
  dataSource: DataSource,
  database: Database,
  clock: Clock,
  crypto: CryptoSource,
): Promise<AccountSource> {
  if (users === undefined) {
    const table = new UserTable(dataSource, OWN_USERS, clock);
    const own = new EntityUserStore(table, database, nameMatching, {
      nameKey: { property: 'usernameKey', of: (name) => crypto.sha256(name), written: OWN_NAME_KEY[nameMatching] },
      newRow: ({ username, passwordHash, properties = {} }: NewUser, usernameKey: string) => {
        refuseProperties(Object.keys(properties));
        return { id: crypto.uuid(), username, passwordHash, usernameKey, active: true, createdAt: clock.now() };
      },
    });
    return new JoinedAccounts(own, database);
  }
  if ('entity' in users) {
    const problems = mappingProblems(dataSource, users);
    if (problems.length > 0) throw new AuthOptionsError(problems);
    const table = new UserTable(dataSource, users, clock);
    return new JoinedAccounts(new EntityUserStore(table, database, nameMatching), database);
  }
  const store = new ApplicationUserStore(await createReplaceable(moduleRef, users), nameMatching);
  return new ExternalAccounts(store, database);
}

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

/** Returns the second factor that the options contain, or a second factor that is never required. */
export async function createSecondFactor(
  moduleRef: ModuleRef,
  { secondFactor }: ResolvedAuthOptions,
): Promise<SecondFactor> {
  if (!secondFactor) return new NoSecondFactor();
  return new ApplicationSecondFactor(await createReplaceable(moduleRef, secondFactor));
}

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

/** Creates an instance of a class with its dependencies injected. Returns an instance unchanged. */
export function createReplaceable<T>(moduleRef: ModuleRef, given: Replaceable<T>): Promise<T> | T {
  return typeof given === 'function' ? moduleRef.create(given as new () => T) : given;
}
