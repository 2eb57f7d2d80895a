import { HostUserStore } from './adapters/host-user-store';
import type { ModuleRef } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import type { Clock } from './domain/ports/clock';
import type { CryptoSource } from './domain/ports/crypto-source';
import type { DeviceDetector } from './domain/ports/device-detector';
import type { Metrics } from './domain/ports/metrics';
import type { PasswordHasher } from './domain/ports/password-hasher';
import type { SignalBus } from './domain/ports/signal-bus';
import type { NewUser, UserEntityMapping, UserStore } from './domain/ports/user-store';
import { foldName } from './domain/username';
import type { Replaceable, ResolvedAuthOptions } from './options/auth-options';
import { Accounts } from './services/accounts';
import { ActivityRecorder } from './services/activity-recorder';
import { AuthHealth } from './services/auth-health';
import { AuthService } from './services/auth.service';
import { Authentication } from './services/authentication';
import { ClientInspector } from './services/client-inspector';
import { HashingQueue } from './services/hashing-queue';
import { Login } from './services/login';
import { LoginAttempts } from './services/login-attempts';
import { MeasuredSignals } from './services/measured-signals';
import { NewPassword } from './services/new-password';
import { OpenSockets } from './services/open-sockets';
import { PasswordVerifier } from './services/password-verifier';
import { Passwords } from './services/passwords';
import { Reauthentication } from './services/reauthentication';
import { Refresh } from './services/refresh';
import { PruningService } from './services/pruning.service';
import { SealedAnswers } from './services/sealed-answers';
import { SessionAdministration } from './services/session-administration';
import { SessionNotices } from './services/session-notices';
import { SessionOpening } from './services/session-opening';
import { Sessions } from './services/sessions';
import { SignalsAfterCommit } from './services/signals-after-commit';
import { TokenIssuer } from './services/token-issuer';
import { ActivityWriter } from './store/activity-writer';
import { AuthTables } from './store/auth-tables';
import { AuthUser } from './store/entities';
import { assertMapping, EntityUserStore } from './store/entity-user-store';
import { EventWriter } from './store/event-writer';
import { SessionEnder } from './store/session-ender';
import { AccessReader } from './store/access-reader';
import { SessionOpener } from './store/session-opener';
import { SessionRefitter } from './store/session-refitter';
import { PasswordResets } from './store/password-resets';
import type { Database } from './store/sql/database';
import { TokenRotator } from './store/token-rotator';
import { TypeOrmAccountStore } from './store/typeorm-account-store';
import { TypeOrmCredentialStore } from './store/typeorm-credential-store';
import { TypeOrmEventLog } from './store/typeorm-event-log';
import { TypeOrmHostTransactions } from './store/typeorm-host-transactions';
import { TypeOrmLoginAttemptStore } from './store/typeorm-login-attempt-store';
import { TypeOrmPruningStore } from './store/typeorm-pruning-store';
import { TypeOrmSessionDirectory } from './store/typeorm-session-directory';
import { TypeOrmSessionStore } from './store/typeorm-session-store';
import { TypeOrmStoreProbe } from './store/typeorm-store-probe';
import { UserLocks } from './store/user-locks';

/** What the use cases stand on. */
export interface Foundations {
  readonly options: ResolvedAuthOptions;
  readonly dataSource: DataSource;
  readonly database: Database;
  readonly users: UserStore;
  readonly hasher: PasswordHasher;
  readonly detector: DeviceDetector | null;
  readonly clock: Clock;
  readonly crypto: CryptoSource;
  readonly signals: SignalBus;
  readonly metrics: Metrics;
}

/** The library, put together. */
export interface Composition {
  readonly auth: AuthService;
  readonly activity: ActivityRecorder;
  readonly administration: SessionAdministration;
  readonly health: AuthHealth;
  readonly pruning: PruningService;
  readonly sockets: OpenSockets;
  /** Begins what runs by itself. */
  start(): void;
  /** Ends it, and writes what is pending; what is in flight afterwards writes for itself. */
  stop(): Promise<void>;
}

/** Puts the use cases and the store together. */
export async function compose(on: Foundations): Promise<Composition> {
  const { options, dataSource, database, users, hasher, clock, crypto, metrics } = on;
  const transactions = new TypeOrmHostTransactions(dataSource);
  const signals = new SignalsAfterCommit(new MeasuredSignals(on.signals, metrics), transactions);
  database.onFailure = (kind) => metrics.count('session_auth.database.errors', 1, { 'error.type': kind });
  const joined = users instanceof EntityUserStore;
  const tables = new AuthTables(dataSource, database.dialect, joined ? users.accountSql(database.dialect) : null);
  const locks = new UserLocks(tables);
  const events = new EventWriter(tables, database);
  const ender = new SessionEnder(tables, locks);
  const opener = new SessionOpener(database, tables, locks, ender, events, joined ? (id) => users.accountOf(id) : null);
  const rotator = new TokenRotator(database, tables, locks, ender, events);
  const sessions = new TypeOrmSessionStore(
    database,
    tables,
    events,
    opener,
    rotator,
    ender,
    new ActivityWriter(tables, database),
    new AccessReader(database, tables, metrics),
  );
  const refitter = new SessionRefitter(tables);
  const resets = new PasswordResets(tables);
  const credentials = new TypeOrmCredentialStore(database, tables, users, locks, ender, refitter, events, resets);
  const accounts = new TypeOrmAccountStore(database, tables, users, locks, ender, events);

  const inspector = new ClientInspector(options, on.detector);
  const tokens = new TokenIssuer(crypto);
  const attemptStore = new TypeOrmLoginAttemptStore(database, tables, events);
  const attempts = new LoginAttempts(options, clock, tokens, inspector, attemptStore, signals, transactions);
  const hashing = new HashingQueue(options.hashing);
  const verifier = new PasswordVerifier(hasher, hashing);
  await verifier.prepare();
  const newPassword = new NewPassword(options, hasher, verifier);
  const sockets = new OpenSockets(options, clock, sessions);
  const notices = new SessionNotices(options, clock, sessions, users, signals, sockets, transactions);
  const activity = new ActivityRecorder(sessions, notices.limits);
  const directory = new TypeOrmSessionDirectory(database, tables, ender, events);
  const administration = new SessionAdministration(users, inspector, directory, notices, transactions);
  const prunable = new TypeOrmPruningStore(database, tables, locks, ender);
  const pruning = new PruningService(options, clock, crypto, prunable, notices, metrics);
  const health = new AuthHealth(new TypeOrmStoreProbe(database, tables), pruning);
  const unobserve = [
    metrics.observe('session_auth.hashing.running', () => hashing.load.running),
    metrics.observe('session_auth.hashing.waiting', () => hashing.load.waiting),
  ];
  const answers = new SealedAnswers(options, crypto, clock, prunable);
  const opening = new SessionOpening(options, crypto, tokens, sessions, signals, notices);
  const login = new Login(attempts, credentials, users, hasher, verifier, opening);
  const auth = new AuthService({
    transactions,
    login,
    attempts,
    opening,
    users,
    inspector,
    metrics,
    refresh: new Refresh(options, tokens, inspector, sessions, users, signals, notices, answers, joined),
    sessions: new Sessions(inspector, sessions, new TypeOrmEventLog(database, tables), notices),
    newPassword,
    passwords: new Passwords(
      options,
      clock,
      tokens,
      inspector,
      users,
      credentials,
      newPassword,
      verifier,
      attempts,
      signals,
      notices,
    ),
    reauthentication: new Reauthentication(options, clock, users, verifier, attempts, sessions),
    accounts: new Accounts(inspector, users, accounts, attempts, notices),
    authentication: new Authentication(options, clock, tokens, inspector, sessions, users, notices, activity),
  });
  return {
    auth,
    activity,
    administration,
    health,
    pruning,
    sockets,
    start: () => {
      answers.start();
      pruning.start();
    },
    stop: async () => {
      for (const end of unobserve) end();
      await Promise.all([sockets.stop(), pruning.stop(), answers.stop(), activity.stop()]);
    },
  };
}

/** The user store that the options name: the library's own users, a mapped entity, or the host's class. */
export async function createUserStore(
  moduleRef: ModuleRef,
  options: ResolvedAuthOptions,
  dataSource: DataSource,
  database: Database,
  clock: Clock,
  crypto: CryptoSource,
): Promise<UserStore> {
  const { users, nameMatching } = options;
  if (users === undefined) {
    return new EntityUserStore(dataSource, database, OWN_USERS, nameMatching, {
      keyProperty: 'usernameKey',
      keyOf: (name) => crypto.sha256(name),
      newRow: (user: NewUser) => ({
        id: crypto.uuid(),
        ...user,
        usernameKey: crypto.sha256(foldName(user.username, nameMatching)),
        active: true,
        createdAt: clock.now(),
      }),
    });
  }
  if (isMapping(users)) {
    assertMapping(dataSource, users);
    return new EntityUserStore(dataSource, database, users, nameMatching);
  }
  return new HostUserStore(await createReplaceable(moduleRef, users));
}

const OWN_USERS: UserEntityMapping = {
  entity: AuthUser,
  username: 'username',
  passwordHash: 'passwordHash',
  active: 'active',
};

export function isMapping(users: ResolvedAuthOptions['users']): users is UserEntityMapping {
  return typeof users === 'object' && users !== null && 'entity' in users;
}

/** A class is made by Nest, with what it injects; an object is taken as it is. */
export function createReplaceable<T>(moduleRef: ModuleRef, given: Replaceable<T>): Promise<T> | T {
  return typeof given === 'function' ? moduleRef.create(given as new () => T) : given;
}
