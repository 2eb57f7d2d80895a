import type { Abstract, Provider } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { Accounts } from './accounts/accounts';
import { DeviceDetector } from './adapters/device-detector';
import { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
import { PasswordHasher } from './adapters/password-hasher';
import { ApplicationSecondFactor, SecondFactor } from './adapters/second-factor';
import { TokenSource } from './adapters/token-source';
import { UaParserDeviceDetector } from './adapters/ua-parser-device-detector';
import { AuthService } from './auth.service';
import { Clock, SystemClock } from './base/clock';
import { Random } from './base/random';
import { Metrics } from './base/telemetry';
import { Database } from './database/database';
import { dialectOf } from './database/dialect';
import { ApplicationTransactions } from './database/joined-transaction';
import { PooledDatabase } from './database/pooled-database';
import { SqliteDatabase } from './database/sqlite-database';
import { StatementFactory } from './database/statements';
import { AUTH_DATA_SOURCE } from './database/typeorm';
import { ClientInspector, EventLog } from './history/event-log';
import { History } from './history/history';
import { Signals } from './history/signals';
import { Login } from './login/login';
import { LoginTickets } from './login/login-tickets';
import { AUTH_OPTIONS, type Replaceable, type ResolvedAuthOptions } from './options/auth-options';
import { AuthOptionsError } from './options/resolve-options';
import { InSession } from './passwords/in-session';
import { HashQueue, Passwords } from './passwords/passwords';
import { ReplacePassword } from './passwords/replace-password';
import { AuthHealth } from './retention/health';
import { Prune } from './retention/prune';
import { PruningService } from './retention/pruning.service';
import { Activity } from './sessions/activity';
import { SessionAdministration } from './sessions/administration';
import { Authenticate } from './sessions/authenticate';
import { EndSessions } from './sessions/end-sessions';
import { OpenSession } from './sessions/open-session';
import { OpenSockets } from './sessions/open-sockets';
import { OwnSessions } from './sessions/own-sessions';
import { Refresh, UnconfirmedPairs } from './sessions/refresh';
import { Reissue, Rotate } from './sessions/rotate';
import { SessionSql, UserLock } from './sessions/session';
import { requireEmitter } from './startup-checks';
import { Throttle } from './throttle/throttle';
import { TokenIssuer } from './tokens/tokens';
import { EntityUsers, OWN_USERS } from './users/entity-users';
import { ExternalUsers } from './users/external-users';
import { mappingProblems } from './users/mapping-problems';
import { Users } from './users/users';

/** Creates an instance of a class with its dependencies injected. Returns an instance unchanged. */
function createReplaceable<T>(moduleRef: ModuleRef, given: Replaceable<T>): Promise<T> | T {
  return typeof given === 'function' ? moduleRef.create(given as new () => T) : given;
}

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

function createDatabase(dataSource: DataSource, options: ResolvedAuthOptions, metrics: Metrics): Database {
  const dialect = dialectOf(dataSource)!;
  const database =
    dialect === 'sqlite' ? new SqliteDatabase(dataSource) : new PooledDatabase(dataSource, dialect, options);
  database.onFailure = (kind) => metrics.count('session_auth.database.errors', 1, { 'error.type': kind });
  return database;
}

/** @throws AuthOptionsError if the mapping does not fit the entity */
async function createUsers(
  moduleRef: ModuleRef,
  { users, nameMatching }: ResolvedAuthOptions,
  dataSource: DataSource,
  database: Database,
  statements: StatementFactory,
  clock: Clock,
  random: Random,
): Promise<Users> {
  const given = users ?? OWN_USERS;
  if (!('entity' in given))
    return new ExternalUsers(await createReplaceable(moduleRef, given), nameMatching, database, statements);
  const problems = mappingProblems(dataSource, given);
  if (problems.length > 0) throw new AuthOptionsError(problems);
  return new EntityUsers(dataSource, given, nameMatching, database, statements, clock, random);
}

async function createSecondFactor(moduleRef: ModuleRef, { secondFactor }: ResolvedAuthOptions): Promise<SecondFactor> {
  return new ApplicationSecondFactor(secondFactor ? await createReplaceable(moduleRef, secondFactor) : null);
}

/** The providers of everything but HTTP. */
export const AUTH_PROVIDERS: Provider[] = [
  { provide: Clock, useClass: SystemClock },
  Random,
  { provide: Metrics, useFactory: () => Metrics.load() },
  replaceableProvider(PasswordHasher, 'passwordHasher', ({ bcryptCost }) => new BcryptPasswordHasher(bcryptCost)),
  replaceableProvider(DeviceDetector, 'deviceDetector', () => UaParserDeviceDetector.load()),
  replaceableProvider(TokenSource, 'tokenSource', () => null),
  { provide: Database, useFactory: createDatabase, inject: [AUTH_DATA_SOURCE, AUTH_OPTIONS, Metrics] },
  {
    provide: StatementFactory,
    useFactory: (dataSource: DataSource, { dialect }: Database) => new StatementFactory(dataSource, dialect),
    inject: [AUTH_DATA_SOURCE, Database],
  },
  ApplicationTransactions,
  TokenIssuer,
  ClientInspector,
  EventLog,
  History,
  {
    provide: Signals,
    useFactory: (metrics: Metrics, emitter?: EventEmitter2) => new Signals(requireEmitter(emitter), metrics),
    inject: [Metrics, { token: EventEmitter2, optional: true }],
  },
  {
    provide: Users,
    useFactory: createUsers,
    inject: [ModuleRef, AUTH_OPTIONS, AUTH_DATA_SOURCE, Database, StatementFactory, Clock, Random],
  },
  Throttle,
  SessionSql,
  UserLock,
  Activity,
  Authenticate,
  EndSessions,
  OpenSession,
  Rotate,
  UnconfirmedPairs,
  Refresh,
  Reissue,
  OwnSessions,
  OpenSockets,
  SessionAdministration,
  AuthHealth,
  Prune,
  PruningService,
  {
    provide: HashQueue,
    useFactory: ({ hashing }: ResolvedAuthOptions) => new HashQueue(hashing),
    inject: [AUTH_OPTIONS],
  },
  Passwords,
  ReplacePassword,
  InSession,
  Accounts,
  { provide: SecondFactor, useFactory: createSecondFactor, inject: [ModuleRef, AUTH_OPTIONS] },
  LoginTickets,
  Login,
  AuthService,
];
