import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type ConfigurableModuleCls,
  type DynamicModule,
  Inject,
  Module,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, HttpAdapterHost, ModuleRef, ModulesContainer, RouterModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { PasswordHasher } from './adapters/password-hasher';
import { TokenSource } from './adapters/token-source';
import { AuthService } from './auth.service';
import { Database } from './database/database';
import { AUTH_DATA_SOURCE } from './database/typeorm';
import { AuthController, PasswordController, ReauthenticationController } from './http/auth.controller';
import { BearerAuthGuard } from './http/bearer-auth.guard';
import { AuthCookies } from './http/cookies/auth-cookies';
import { CookieRules } from './http/cookies/cookie-rules';
import { CrossSiteCheck } from './http/cookies/cross-site-check';
import { configureRoutes, httpServerOf, unmountControllers } from './http/platform';
import { cachePeerAddresses } from './http/request';
import { SessionsController } from './http/sessions.controller';
import { AccessTokens, readCookiesOfHandshakes } from './http/transports';
import { AuthErrorFilter } from './http/wire-format';
import {
  AUTH_OPTIONS,
  type AuthModuleExtras,
  type AuthModuleOptions,
  type ResolvedAuthOptions,
} from './options/auth-options';
import { assertPlainOptions, resolveExtras, resolveOptions } from './options/resolve-options';
import { AUTH_PROVIDERS } from './providers';
import { AuthHealth } from './retention/health';
import { PruningService } from './retention/pruning.service';
import { SessionAdministration } from './sessions/administration';
import { Authenticate } from './sessions/authenticate';
import { OpenSockets } from './sessions/open-sockets';
import * as startup from './startup-checks';
import { Users } from './users/users';

const AUTH_CONTROLLERS = [AuthController, SessionsController, PasswordController, ReauthenticationController];
const AUTH_EXTRAS = Symbol('NESTJS_SESSION_AUTH_EXTRAS');

function applyExtras(definition: DynamicModule, given: AuthModuleExtras): DynamicModule {
  const extras = resolveExtras(given);
  const { path, controllers, globalGuard, dataSource, isGlobal } = extras;
  // The injection token under which @nestjs/typeorm provides the DataSource.
  const token = dataSource === 'default' ? DataSource : `${dataSource}DataSource`;
  return {
    ...definition,
    global: isGlobal,
    imports: [
      ...(definition.imports ?? []),
      ...(controllers ? [RouterModule.register([{ path, module: definition.module }])] : []),
    ],
    // `forRootAsync()` does not know the options yet, so `AuthModule` removes the controllers of disabled routes.
    controllers: controllers ? [...AUTH_CONTROLLERS] : [],
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
    AuthCookies,
    AuthHealth,
    AuthService,
    OpenSockets,
    PruningService,
    SessionAdministration,
    BearerAuthGuard,
    // Nest resolves the dependencies of `BearerAuthGuard` in the module that uses the guard.
    AccessTokens,
    Authenticate,
    CookieRules,
    AuthErrorFilter,
    PasswordHasher,
    TokenSource,
    AUTH_OPTIONS,
  ],
})
export class AuthModule extends BaseModule implements NestModule, OnModuleInit, OnApplicationBootstrap {
  /** @internal */
  constructor(
    users: Users,
    @Inject(AUTH_EXTRAS) private readonly extras: Required<AuthModuleExtras>,
    @Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
    private readonly modules: ModulesContainer,
  ) {
    super();
    const unmounted: Type[] = [
      ...(users.canSetPasswords ? [] : [PasswordController]),
      ...(options.recentLogin.endpoint ? [] : [ReauthenticationController]),
    ];
    // A lifecycle hook would run too late for the application's OpenAPI document.
    unmountControllers(modules, this.constructor, unmounted);
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
    if (!this.extras.controllers || !this.adapterHost.httpAdapter?.getInstance) return;
    configureRoutes(this.adapterHost);
  }

  /** Checks the setup, and prepares the HTTP server for reading clients' addresses and the cookies of handshakes. */
  onModuleInit(): void {
    startup.refuseContradictoryRoutes(this.modules);
    const server = httpServerOf(this.adapterHost);
    if (server) {
      cachePeerAddresses(server);
      readCookiesOfHandshakes(server, this.moduleRef.get(CookieRules));
      startup.warnAboutForwardedAddresses(this.adapterHost, server);
    }
    startup.warnAboutPlatform(this.adapterHost);
    startup.warnAboutShortGracePeriod(this.options);
  }

  /** Checks the tables and the database server. */
  async onApplicationBootstrap(): Promise<void> {
    const server = startup.warnAboutServer(this.moduleRef.get(Database));
    await Promise.all([server, startup.warnAboutMissingTables(this.dataSource, this.options)]);
  }
}
