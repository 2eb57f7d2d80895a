import {
  Inject,
  Module,
  type DynamicModule,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import {
  AUTH_EXTRAS,
  ConfigurableModuleClass,
  type AuthModuleAsyncOptions,
  type AuthModuleRootOptions,
} from './auth.module-definition';
import { AUTH_PROVIDERS } from './auth.providers';
import { PasswordHasher, TokenSource } from './domain/ports/platform';
import { UserStore } from './domain/ports/accounts';
import { AuthCookies } from './http/cookies/auth-cookies';
import { CookieAuthentication } from './http/cookies/cookie-authentication';
import { COOKIE_PROVIDERS } from './http/cookies/cookie.providers';
import { readCookiesOfHandshakes } from './http/cookies/handshake-cookies';
import { AuthErrorFilter } from './http/endpoints/auth-error.filter';
import { mountedEndpoints, unmountControllers } from './http/endpoints/endpoints';
import { describeEndpoints } from './http/endpoints/openapi/describe-endpoints';
import { BearerAuthGuard } from './http/guards/bearer-auth.guard';
import { configureExpress, type ExpressApplication } from './http/platform/express';
import { configureFastify, type FastifyApplication } from './http/platform/fastify';
import { libraryRoutes } from './http/platform/library-routes';
import { httpServerOf, cachePeerAddresses } from './http/platform/peer-addresses';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './options/auth-options';
import type { AuthModuleExtras } from './options/module-extras';
import { assertPlainOptions } from './options/resolve-options';
import { AuthService } from './services/auth.service';
import { AuthHealth } from './services/maintenance/auth-health';
import { PruningService } from './services/maintenance/pruning.service';
import { OpenSockets } from './services/sessions/open-sockets';
import { SessionAdministration } from './services/sessions/session-administration';
import {
  refuseContradictoryRoutes,
  warnAboutForwardedAddresses,
  warnAboutMissingTables,
  warnAboutPlatform,
  warnAboutServer,
  warnAboutShortGracePeriod,
  warnAboutUnusedUsers,
} from './startup-checks';
import { AUTH_DATA_SOURCE } from './store/database/data-source';
import { Database } from './store/database/database';

/** Session-based authentication with opaque tokens. Import `forRoot()` or `forRootAsync()` once. */
@Module({
  providers: [
    ...AUTH_PROVIDERS,
    ...COOKIE_PROVIDERS,
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
    CookieAuthentication,
    AuthErrorFilter,
    UserStore,
    PasswordHasher,
    TokenSource,
    AUTH_OPTIONS,
  ],
})
export class AuthModule extends ConfigurableModuleClass implements NestModule, OnModuleInit, OnApplicationBootstrap {
  /** @internal */
  constructor(
    private readonly auth: AuthService,
    @Inject(AUTH_EXTRAS) private readonly extras: Required<AuthModuleExtras>,
    @Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
    private readonly modules: ModulesContainer,
  ) {
    super();
    // A lifecycle hook would be too late: hooks run after Nest has created the controllers, and an application may
    // create its OpenAPI document before the hooks run.
    unmountControllers(modules, this.constructor, auth);
    if (extras.controllers) describeEndpoints(options.cookies.mode);
  }

  /**
   * Configures the module with these options.
   * @throws AuthOptionsError if the argument is not a plain object. If options are invalid, the
   *   application does not start, and an `AuthOptionsError` says what is wrong
   */
  static override forRoot(options: AuthModuleRootOptions = {}): DynamicModule {
    assertPlainOptions(options);
    return super.forRoot(options);
  }

  /**
   * Configures the module with the options that a factory or a class returns. Pass the `AuthModuleExtras` next to
   * `useFactory`, `useClass` or `useExisting`.
   * @throws AuthOptionsError at startup if options are invalid. The error says what is wrong
   */
  static override forRootAsync(options: AuthModuleAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }

  /**
   * Installs the handlers that the library's routes need on Express or Fastify. On Express, the handlers follow
   * the body parsers.
   */
  configure(): void {
    const adapter = this.adapterHost.httpAdapter;
    if (!this.extras.controllers || !adapter?.getInstance) return;
    const isLibraryRoute = libraryRoutes(this.moduleRef, this.extras.path, mountedEndpoints(this.auth));
    if (adapter.getType() === 'fastify') configureFastify(adapter.getInstance<FastifyApplication>(), isLibraryRoute);
    if (adapter.getType() === 'express') configureExpress(adapter.getInstance<ExpressApplication>(), isLibraryRoute);
  }

  /**
   * Checks the setup. Prepares the HTTP server for reading the addresses of clients, and the
   * cookies of WebSocket handshakes.
   * @throws AuthSetupError if decorators contradict each other
   */
  onModuleInit(): void {
    refuseContradictoryRoutes(this.modules);
    const server = httpServerOf(this.adapterHost);
    if (server) cachePeerAddresses(server);
    const cookies = this.moduleRef.get<CookieAuthentication | null>(CookieAuthentication);
    if (server && cookies) readCookiesOfHandshakes(server, cookies);
    warnAboutPlatform(this.adapterHost);
    warnAboutForwardedAddresses(this.adapterHost);
    warnAboutShortGracePeriod(this.options);
    warnAboutUnusedUsers(this.dataSource, this.options);
  }

  /** Warns about missing tables, and about database servers on which the library's guarantees do not hold. */
  async onApplicationBootstrap(): Promise<void> {
    await Promise.all([
      warnAboutMissingTables(this.dataSource, this.options),
      warnAboutServer(this.moduleRef.get(Database)),
    ]);
  }
}
