import {
  type Abstract,
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type ConfigurableModuleCls,
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost, ModuleRef, ModulesContainer, RouterModule } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { DataSource } from 'typeorm';
import { Accounts } from './accounts/accounts';
import { AuthEvents } from './accounts/auth-events';
import { DeviceDetector } from './adapters/device-detector';
import { FormerTokens } from './adapters/former-tokens';
import { BcryptPasswordHasher } from './adapters/hashers/bcrypt-password-hasher';
import { ImpersonationPolicy } from './adapters/impersonation-policy';
import { LoginPolicy } from './adapters/login-policy';
import { PasswordHasher } from './adapters/password-hasher';
import { RealmResolver } from './adapters/realm';
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
import { PasswordController } from './http/auth.controller';
import { BearerAuthGuard } from './http/bearer-auth.guard';
import { AuthCookies } from './http/cookies/auth-cookies';
import { CookieRules } from './http/cookies/cookie-rules';
import { CrossSiteCheck } from './http/cookies/cross-site-check';
import { controllersOf } from './http/endpoints';
import { configureRoutes, httpServerOf, type MountedRoute, unmountController } from './http/platform';
import { cachePeerAddresses } from './http/request';
import { AccessTokens, readCookiesOfHandshakes } from './http/transports';
import { AuthErrorFilter } from './http/wire-format';
import { Login } from './login/login';
import { LoginTickets } from './login/login-tickets';
import {
  AUTH_OPTIONS,
  type AuthModuleExtras,
  type AuthModuleOptions,
  type Replaceable,
  type ReplaceableName,
  type ResolvedAuthExtras,
  type ResolvedAuthOptions,
} from './options/auth-options';
import { assertPlainOptions, AuthOptionsError, resolveExtras, resolveOptions } from './options/resolve-options';
import { InSession } from './passwords/in-session';
import { HashQueue, Passwords } from './passwords/passwords';
import { ReplacePassword } from './passwords/replace-password';
import { AuthHealth } from './retention/health';
import { Prune } from './retention/prune';
import { PruningService } from './retention/pruning.service';
import { Activity } from './sessions/activity';
import { SessionAdministration } from './sessions/administration';
import { ApiKeys } from './sessions/api-keys';
import { Authenticate } from './sessions/authenticate';
import { AuthenticateApiKeys } from './sessions/authenticate-api-keys';
import { EndSessions } from './sessions/end-sessions';
import { AuthenticateFormerTokens } from './sessions/former-tokens';
import { Impersonate } from './sessions/impersonate';
import { LoginTerms } from './sessions/login-terms';
import { OpenSession } from './sessions/open-session';
import { OpenSockets } from './sessions/open-sockets';
import { OwnSessions } from './sessions/own-sessions';
import { Refresh, UnconfirmedPairs } from './sessions/refresh';
import { Reissue, Rotate } from './sessions/rotate';
import { SessionSql, UserLock } from './sessions/session';
import * as startup from './startup-checks';
import { Throttle } from './throttle/throttle';
import { TokenIssuer } from './tokens/tokens';
import { OWN_USERS } from './users/entity-names';
import { EntityUsers } from './users/entity-users';
import { ExternalUsers } from './users/external-users';
import { mappingProblems } from './users/mapping-problems';
import { Users } from './users/users';

const AUTH_EXTRAS = Symbol('NESTJS_SESSION_AUTH_EXTRAS');

/** The properties of the argument of `forRootAsync()` that are not options. Nest 10 passes them on with the extras. */
const ASYNC_PROPERTIES = ['imports', 'inject', 'provideInjectionTokensFrom', 'useClass', 'useExisting', 'useFactory'];

function applyExtras(definition: DynamicModule, received: AuthModuleExtras): DynamicModule {
  const given = Object.fromEntries(Object.entries(received).filter(([name]) => !ASYNC_PROPERTIES.includes(name)));
  const extras = resolveExtras(given);
  const { path, controllers, endpoints, globalGuard, dataSource, isGlobal } = extras;
  // The injection token under which @nestjs/typeorm provides the DataSource.
  const token = dataSource === 'default' ? DataSource : `${dataSource}DataSource`;
  return {
    ...definition,
    global: isGlobal,
    imports: [
      ...(definition.imports ?? []),
      ...(controllers ? [RouterModule.register([{ path, module: definition.module }])] : []),
    ],
    controllers: controllers ? [...controllersOf(endpoints)] : [],
    providers: [
      ...(definition.providers ?? []),
      { provide: AUTH_EXTRAS, useValue: extras },
      {
        provide: AUTH_OPTIONS,
        useFactory: (options: unknown, modules: ModulesContainer) => {
          startup.refuseSecondModule(modules, definition.module);
          return resolveOptions(options, given);
        },
        inject: [built.MODULE_OPTIONS_TOKEN, ModulesContainer],
      },
      {
        provide: AUTH_DATA_SOURCE,
        useFactory: ({ users }: ResolvedAuthOptions, found?: DataSource) =>
          startup.requireDataSource(found, dataSource, users === undefined),
        inject: [AUTH_OPTIONS, { token, optional: true }],
      },
      ...(globalGuard ? [{ provide: APP_GUARD, useExisting: BearerAuthGuard }] : []),
    ],
  };
}

const built = new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'NestjsSessionAuth' })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createAuthOptions')
  .setExtras<AuthModuleExtras>(resolveExtras({}), applyExtras)
  .build();

/** The argument of `AuthModule.forRoot()`. */
export type AuthModuleRootOptions = AuthModuleOptions & AuthModuleExtras;

/** The argument of `AuthModule.forRootAsync()`: the factory or class that returns the options, and the extras. */
export type AuthModuleAsyncOptions = ConfigurableModuleAsyncOptions<AuthModuleOptions, 'createAuthOptions'> &
  AuthModuleExtras;

// The type is explicit, because an inferred type would tie the published declarations to one module system.
const BaseModule: ConfigurableModuleCls<AuthModuleOptions, 'forRoot', 'createAuthOptions', AuthModuleExtras> =
  built.ConfigurableModuleClass;

function createReplaceable<T>(moduleRef: ModuleRef, given: Replaceable<T>): Promise<T> | T {
  return typeof given === 'function' ? moduleRef.create(given as new () => T) : given;
}

/** @param complete returns what is injected. Default: the application's instance, or null without one */
function replaceableProvider<T>(
  provide: Abstract<T>,
  option: ReplaceableName,
  complete: (given: T | null, options: ResolvedAuthOptions) => T | null = (given) => given,
): Provider {
  const useFactory = async (moduleRef: ModuleRef, options: ResolvedAuthOptions): Promise<T | null> => {
    const given = options[option] as Replaceable<T> | undefined;
    return complete(given ? await createReplaceable(moduleRef, given) : null, options);
  };
  return { provide, useFactory, inject: [ModuleRef, AUTH_OPTIONS] };
}

function createDatabase(dataSource: DataSource, options: ResolvedAuthOptions, metrics: Metrics): Database {
  const dialect = dialectOf(dataSource)!;
  const database =
    dialect === 'sqlite' ? new SqliteDatabase(dataSource) : new PooledDatabase(dataSource, dialect, options);
  if (database instanceof PooledDatabase) {
    const { load, size } = database.connections;
    metrics.observe('session_auth.connections.used', () => load.used);
    metrics.observe('session_auth.connections.waiting', () => load.waiting);
    metrics.observe('session_auth.connections.max', () => size);
  }
  database.onFailure = (kind) => metrics.count('session_auth.database.errors', 1, { 'error.type': kind });
  return database;
}

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

/** The providers of everything but HTTP. */
export const AUTH_PROVIDERS: Provider[] = [
  { provide: Clock, useClass: SystemClock },
  Random,
  { provide: Metrics, useFactory: () => Metrics.load() },
  replaceableProvider(
    PasswordHasher,
    'passwordHasher',
    (given, options) => given ?? new BcryptPasswordHasher(options.bcryptCost),
  ),
  replaceableProvider(DeviceDetector, 'deviceDetector', (given) => given ?? UaParserDeviceDetector.load()),
  replaceableProvider(SecondFactor, 'secondFactor', (given) => new ApplicationSecondFactor(given)),
  replaceableProvider(TokenSource, 'tokenSource'),
  replaceableProvider(LoginPolicy, 'loginPolicy'),
  replaceableProvider(ImpersonationPolicy, 'impersonationPolicy'),
  replaceableProvider(FormerTokens, 'formerTokens'),
  replaceableProvider(RealmResolver, 'realm'),
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
    useFactory: (metrics: Metrics, moduleRef: ModuleRef, emitter?: EventEmitter2) =>
      // With `global: false`, the emitter may not exist yet.
      new Signals(
        startup.requireEmitter(() => emitter ?? moduleRef.get(EventEmitter2, { strict: false })),
        metrics,
      ),
    inject: [Metrics, ModuleRef, { token: EventEmitter2, optional: true }],
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
  AuthenticateApiKeys,
  AuthenticateFormerTokens,
  EndSessions,
  LoginTerms,
  OpenSession,
  Rotate,
  UnconfirmedPairs,
  Refresh,
  Reissue,
  OwnSessions,
  ApiKeys,
  OpenSockets,
  Impersonate,
  SessionAdministration,
  AuthHealth,
  Prune,
  PruningService,
  HashQueue,
  Passwords,
  ReplacePassword,
  InSession,
  Accounts,
  AuthEvents,
  LoginTickets,
  Login,
  AuthService,
];

/** Session-based authentication with opaque tokens. Import `forRoot()` or `forRootAsync()` once. */
@Module({
  providers: [
    ...AUTH_PROVIDERS,
    CrossSiteCheck,
    CookieRules,
    AuthCookies,
    AccessTokens,
    BearerAuthGuard,
    AuthErrorFilter,
    { provide: APP_FILTER, useExisting: AuthErrorFilter },
  ],
  exports: [
    ApiKeys,
    AuthCookies,
    AuthEvents,
    AuthHealth,
    AuthService,
    OpenSockets,
    PruningService,
    SessionAdministration,
    BearerAuthGuard,
    // Nest resolves the dependencies of `BearerAuthGuard` in the module that uses the guard.
    AccessTokens,
    Authenticate,
    AuthenticateApiKeys,
    AuthenticateFormerTokens,
    ClientInspector,
    CookieRules,
    AuthErrorFilter,
    PasswordHasher,
    TokenSource,
    AUTH_OPTIONS,
  ],
})
export class AuthModule
  extends BaseModule
  implements NestModule, OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  /** Returns all routes of the HTTP server, if it has any of the library. */
  private mountedRoutes: () => readonly MountedRoute[] = () => [];
  private isClosing = false;
  /** @internal Fulfilled when the checks after the start have written their warnings. */
  lateChecks: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(
    private readonly users: Users,
    @Inject(AUTH_EXTRAS) private readonly extras: ResolvedAuthExtras,
    @Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
    private readonly modules: ModulesContainer,
  ) {
    super();
    // A lifecycle hook would run too late for the application's OpenAPI document.
    if (!users.canSetPasswords) unmountController(modules, this.constructor, PasswordController);
  }

  /** @throws AuthOptionsError if the argument is not a plain object, and at startup if options are invalid */
  static override forRoot(options: AuthModuleRootOptions = {}): DynamicModule {
    assertPlainOptions(options);
    return super.forRoot(options);
  }

  /** Pass the `AuthModuleExtras` next to the factory or class. @throws AuthOptionsError at startup */
  static override forRootAsync(options: AuthModuleAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }

  /** Installs the handlers that the library's routes need on Express, after the body parsers, or on Fastify. */
  configure(): void {
    startup.refuseRequestScope(this.moduleRef);
    if (!this.extras.controllers || !this.adapterHost.httpAdapter?.getInstance) return;
    this.mountedRoutes = configureRoutes(this.adapterHost);
  }

  /** Checks the setup, and prepares the HTTP server for reading clients' addresses and the cookies of handshakes. */
  onModuleInit(): void {
    startup.refuseContradictoryRoutes(this.modules);
    startup.refuseUnprotectedFields(this.modules);
    if (this.extras.globalGuard) startup.refuseUnprotectedMessages(this.modules);
    startup.refuseConflictingRoutes(this.mountedRoutes(), this.modules);
    const server = httpServerOf(this.adapterHost);
    if (server) {
      cachePeerAddresses(server);
      readCookiesOfHandshakes(server, this.moduleRef.get(CookieRules));
      startup.warnAboutForwardedAddresses(this.adapterHost, server);
    }
    startup.warnAboutPlatform(this.adapterHost);
    startup.warnAboutShortGracePeriod(this.options);
  }

  /** Checks the installed versions, the tables and the database server after the application has started. */
  onApplicationBootstrap(): void {
    this.lateChecks = new Promise(setImmediate).then(() => {
      startup.warnAboutVersions();
      const names = this.users.checkUniqueNames(null).catch(() => false);
      const isClosing = () => this.isClosing || !this.dataSource.isInitialized;
      const tables = startup.warnAboutMissingTables(this.dataSource, this.options, isClosing);
      return Promise.all([startup.warnAboutServer(this.moduleRef.get(Database)), names, tables]);
    });
  }

  /** Silences the check of the tables, which cannot be read while the application closes. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
  }
}
