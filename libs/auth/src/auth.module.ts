import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost, ModuleRef } from '@nestjs/core';
import { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { BcryptPasswordHasher } from './adapters/bcrypt-password-hasher';
import { EventEmitterSignalBus } from './adapters/event-emitter-signal-bus';
import { NodeCryptoSource } from './adapters/node-crypto-source';
import { OpenTelemetryMetrics } from './adapters/open-telemetry-metrics';
import { SystemClock } from './adapters/system-clock';
import { UaParserDeviceDetector } from './adapters/ua-parser-device-detector';
import {
  AUTH_DATA_SOURCE,
  AUTH_EXTRAS,
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type AuthModuleAsyncOptions,
  type AuthModuleRootOptions,
} from './auth.module-definition';
import { compose, createReplaceable, createUserStore, type Composition } from './compose';
import { Clock } from './domain/ports/clock';
import { CryptoSource } from './domain/ports/crypto-source';
import { DeviceDetector } from './domain/ports/device-detector';
import { Metrics } from './domain/ports/metrics';
import { PasswordHasher } from './domain/ports/password-hasher';
import { SignalBus } from './domain/ports/signal-bus';
import { TokenSource } from './domain/ports/token-source';
import { UserStore } from './domain/ports/user-store';
import { requireDataSource, requireEmitter, warnOfMissingTables, warnOfPlatform } from './host-checks';
import { AuthErrorFilter } from './http/auth-error.filter';
import { BearerAuthGuard } from './http/bearer-auth.guard';
import { answerBodiesOnFastify, readAnyPathOnFastify, type FastifyInstance } from './http/fastify-routes';
import { globalPrefixOf } from './http/global-prefix';
import { bodyErrorHandler, brokenEscapeReader } from './http/library-routes';
import { describeEndpoints } from './http/openapi/describe-endpoints';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from './options/auth-options';
import { DEFAULT_EXTRAS } from './options/defaults';
import { resolveOptions } from './options/resolve-options';
import { AuthHealth } from './services/auth-health';
import { AuthService } from './services/auth.service';
import { OpenSockets } from './services/open-sockets';
import { PruningService } from './services/pruning.service';
import { SessionAdministration } from './services/session-administration';
import { Database } from './store/sql/database';
import { PooledDatabase } from './store/sql/pooled-database';
import { SqliteDatabase } from './store/sql/sqlite-database';

const COMPOSITION = 'NESTJS_SESSION_AUTH_COMPOSITION';

/** Session-based authentication with opaque tokens: `AuthModule.forRoot()` or `forRootAsync()`, once in a host. */
@Module({
  providers: [
    { provide: AUTH_OPTIONS, useFactory: resolveOptions, inject: [{ token: MODULE_OPTIONS_TOKEN, optional: true }] },
    { provide: Clock, useClass: SystemClock },
    { provide: CryptoSource, useClass: NodeCryptoSource },
    { provide: Metrics, useFactory: () => OpenTelemetryMetrics.load() },
    {
      provide: Database,
      useFactory: (found: DataSource | undefined, extras: typeof DEFAULT_EXTRAS, options: ResolvedAuthOptions) => {
        const { dataSource, dialect } = requireDataSource(found, extras.dataSource, options.users === undefined);
        return dialect === 'sqlite'
          ? new SqliteDatabase(dataSource)
          : new PooledDatabase(dataSource, dialect, options.namedStatements);
      },
      inject: [{ token: AUTH_DATA_SOURCE, optional: true }, AUTH_EXTRAS, AUTH_OPTIONS],
    },
    {
      provide: SignalBus,
      useFactory: (emitter?: EventEmitter2) => new EventEmitterSignalBus(requireEmitter(emitter)),
      inject: [{ token: EventEmitter2, optional: true }],
    },
    {
      provide: UserStore,
      useFactory: (
        moduleRef: ModuleRef,
        options: ResolvedAuthOptions,
        database: Database,
        dataSource: DataSource,
        clock: Clock,
        crypto: CryptoSource,
      ) => createUserStore(moduleRef, options, dataSource, database, clock, crypto),
      inject: [ModuleRef, AUTH_OPTIONS, Database, AUTH_DATA_SOURCE, Clock, CryptoSource],
    },
    {
      provide: PasswordHasher,
      useFactory: (moduleRef: ModuleRef, { passwordHasher, bcryptCost }: ResolvedAuthOptions) =>
        passwordHasher ? createReplaceable(moduleRef, passwordHasher) : new BcryptPasswordHasher(bcryptCost),
      inject: [ModuleRef, AUTH_OPTIONS],
    },
    {
      provide: DeviceDetector,
      useFactory: (moduleRef: ModuleRef, { deviceDetector }: ResolvedAuthOptions) =>
        deviceDetector ? createReplaceable(moduleRef, deviceDetector) : UaParserDeviceDetector.load(),
      inject: [ModuleRef, AUTH_OPTIONS],
    },
    {
      provide: TokenSource,
      useFactory: (moduleRef: ModuleRef, { tokenSource }: ResolvedAuthOptions) =>
        tokenSource ? createReplaceable(moduleRef, tokenSource) : null,
      inject: [ModuleRef, AUTH_OPTIONS],
    },
    {
      provide: COMPOSITION,
      useFactory: (
        options: ResolvedAuthOptions,
        dataSource: DataSource,
        database: Database,
        users: UserStore,
        hasher: PasswordHasher,
        detector: DeviceDetector | null,
        clock: Clock,
        crypto: CryptoSource,
        signals: SignalBus,
        metrics: Metrics,
      ) => compose({ options, dataSource, database, users, hasher, detector, clock, crypto, signals, metrics }),
      inject: [
        AUTH_OPTIONS,
        AUTH_DATA_SOURCE,
        Database,
        UserStore,
        PasswordHasher,
        DeviceDetector,
        Clock,
        CryptoSource,
        SignalBus,
        Metrics,
      ],
    },
    { provide: AuthService, useFactory: ({ auth }: Composition) => auth, inject: [COMPOSITION] },
    {
      provide: SessionAdministration,
      useFactory: ({ administration }: Composition) => administration,
      inject: [COMPOSITION],
    },
    { provide: AuthHealth, useFactory: ({ health }: Composition) => health, inject: [COMPOSITION] },
    { provide: OpenSockets, useFactory: ({ sockets }: Composition) => sockets, inject: [COMPOSITION] },
    { provide: PruningService, useFactory: ({ pruning }: Composition) => pruning, inject: [COMPOSITION] },
    BearerAuthGuard,
    AuthErrorFilter,
  ],
  exports: [
    AuthHealth,
    AuthService,
    OpenSockets,
    PruningService,
    SessionAdministration,
    BearerAuthGuard,
    AuthErrorFilter,
    UserStore,
    PasswordHasher,
    TokenSource,
    AUTH_OPTIONS,
  ],
})
export class AuthModule
  extends ConfigurableModuleClass
  implements NestModule, OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown
{
  constructor(
    @Inject(COMPOSITION) private readonly composition: Composition,
    @Inject(AUTH_EXTRAS) private readonly extras: typeof DEFAULT_EXTRAS,
    @Inject(AUTH_DATA_SOURCE) private readonly dataSource: DataSource,
    private readonly moduleRef: ModuleRef,
    private readonly adapterHost: HttpAdapterHost,
  ) {
    super();
    // Now, for a document may be made before the app is initialised.
    const { canSetPasswords: change, canReauthenticate: reauthenticate } = composition.auth;
    if (extras.controllers) describeEndpoints({ change, reauthenticate });
  }

  /** @throws AuthOptionsError when the module is made, naming every option that is wrong */
  static override forRoot(options: AuthModuleRootOptions = {}): DynamicModule {
    return super.forRoot(options);
  }

  /** The options come out of a factory; `path`, `controllers`, `globalGuard`, `dataSource`, `isGlobal` stand beside it. */
  static override forRootAsync(options: AuthModuleAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }

  /** Puts what answers for unreadable bodies behind the parsers of the platform. */
  configure(): void {
    const adapter = this.adapterHost.httpAdapter;
    if (!this.extras.controllers || !adapter?.getInstance) return;
    const mountPath = `${globalPrefixOf(this.moduleRef)}/${this.extras.path}`;
    if (adapter.getType() === 'fastify') {
      const fastify = adapter.getInstance<FastifyInstance>();
      answerBodiesOnFastify(fastify, mountPath);
      readAnyPathOnFastify(fastify, mountPath);
    }
    if (adapter.getType() !== 'express') return;
    const express = adapter.getInstance<{ use(handler: unknown): void }>();
    express.use(bodyErrorHandler(mountPath));
    express.use(brokenEscapeReader(mountPath));
  }

  /** Warns of settings of the platform. */
  onModuleInit(): void {
    warnOfPlatform(this.adapterHost);
  }

  /** Warns of tables that are missing, and begins the clean-up. */
  async onApplicationBootstrap(): Promise<void> {
    await warnOfMissingTables(this.dataSource);
    this.composition.start();
  }

  /** While the DataSource is still open, and requests that are in flight are still being answered. */
  beforeApplicationShutdown(): Promise<void> {
    return this.composition.stop();
  }
}
