import { Controller, Get, Module, UseGuards, type ModuleMetadata, type Type } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule } from '@nestjs/event-emitter';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AUTH_ENTITIES_WITHOUT_USERS,
  type AuthError,
  AuthModule,
  type AuthPrincipal,
  AuthService,
  AuthSession,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  PruningService,
  Public,
  type AuthModuleExtras,
  type AuthModuleOptions,
  type AuthSignalName,
  type AuthSignals,
  AuthUser,
  type SessionInfo,
} from 'nestjs-session-auth';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { Clock } from '../../libs/auth/src/base/clock';
import { Authenticate } from '../../libs/auth/src/sessions/authenticate';
import { WITHOUT_NAMED_STATEMENTS, type TestDatabase } from './databases';
import { DrivenClock } from './driven-clock';

/** bcrypt at its lowest cost, which is allowed in tests only. */
export const CHEAP: AuthModuleOptions = { bcryptCost: 4 };

export const PASSWORD = 'correct horse battery staple';
export const CREDENTIALS = { username: 'alice', password: PASSWORD };
export const INVALID_CREDENTIALS = { non_field_errors: ['Invalid credentials.'] };
export const INVALID_REFRESH = { non_field_errors: ['Invalid or expired refresh token.'] };

@Controller()
class MeController {
  @Get('me')
  @UseGuards(BearerAuthGuard)
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { id: user.id, username: user.username, session_id: session.id };
  }

  @Get('open')
  @Public()
  open(): object {
    return { open: true };
  }
}

export type PlatformName = 'express' | 'fastify';

/** Fastify as the documentation sets it up, with Express's limit for bodies. */
export const ADAPTERS: Readonly<Record<PlatformName, (trustProxy?: boolean | string) => AbstractHttpAdapter>> = {
  express: (trustProxy) => {
    const adapter = new ExpressAdapter();
    if (trustProxy !== undefined) adapter.set('trust proxy', trustProxy);
    return adapter;
  },
  fastify: (trustProxy = false) =>
    new FastifyAdapter({
      trustProxy,
      bodyLimit: 100 * 1024,
      onProtoPoisoning: 'remove',
      onConstructorPoisoning: 'remove',
      routerOptions: { ignoreTrailingSlash: true },
    }),
};

export interface TestApplicationOptions {
  readonly database: TestDatabase;
  readonly platform?: PlatformName;
  /** Default: the adapter of the platform. */
  readonly adapter?: AbstractHttpAdapter;
  readonly trustProxy?: boolean | string;
  readonly auth?: AuthModuleOptions & AuthModuleExtras;
  readonly imports?: ModuleMetadata['imports'];
  readonly controllers?: readonly Type[];
  readonly providers?: ModuleMetadata['providers'];
  readonly entities?: readonly (new () => object)[];
  readonly users?: readonly string[];
  /** Called before the application is initialized, for pipes, prefix and versioning. */
  readonly configure?: (app: NestExpressApplication) => void | Promise<unknown>;
  /** Overrides providers of the library. */
  readonly override?: (module: TestingModuleBuilder) => TestingModuleBuilder;
}

/** An application with the library, listening on its own port. */
export class TestApplication {
  readonly signals: { name: AuthSignalName; payload: AuthSignals[AuthSignalName] }[] = [];

  private constructor(
    readonly nest: NestExpressApplication,
    readonly clock: DrivenClock,
    readonly logs: string[],
  ) {}

  static async start(options: TestApplicationOptions): Promise<TestApplication> {
    const clock = new DrivenClock();
    const logs: string[] = [];
    const log = (...parts: unknown[]): void => void logs.push(parts.map(String).join(' '));
    const { database, entities = AUTH_ENTITIES } = options;
    const synchronize = database.tables !== entities;
    const settings = { synchronize, ...database.options, entities: [...entities] };
    const dataSource = await new DataSource(settings).initialize();
    database.tables = entities;
    @Module({
      imports: [
        TypeOrmModule.forRootAsync({ useFactory: () => dataSource.options, dataSourceFactory: async () => dataSource }),
        EventEmitterModule.forRoot(),
        // The first scheduled run is at a random time. Tests call `pruning.prune()` instead.
        AuthModule.forRoot({ ...CHEAP, ...WITHOUT_NAMED_STATEMENTS, pruneIntervalSeconds: false, ...options.auth }),
        ...(options.imports ?? []),
      ],
      controllers: [MeController, ...(options.controllers ?? [])],
      providers: options.providers ?? [],
    })
    class ApplicationModule {}
    const driven = Test.createTestingModule({ imports: [ApplicationModule] })
      .overrideProvider(Clock)
      .useValue(clock);
    const module = await (options.override?.(driven) ?? driven)
      .setLogger({ log, error: log, warn: log, debug: log, verbose: log, fatal: log })
      .compile()
      .catch(async (error: unknown) => {
        // Nest closes only what has started. An open connection would keep the process running.
        await dataSource.destroy();
        throw error;
      });
    const nest = module.createNestApplication<NestExpressApplication>(
      options.adapter ?? ADAPTERS[options.platform ?? 'express'](options.trustProxy),
    );
    await options.configure?.(nest);
    await nest.listen(0, '127.0.0.1');
    // Otherwise their statements and warnings would appear at any time in the test.
    await nest.get(AuthModule).lateChecks;
    const app = new TestApplication(nest, clock, logs);
    nest.get(EventEmitter2).onAny((name: string | string[], payload: unknown) => {
      app.signals.push({ name: name as AuthSignalName, payload: payload as never });
    });
    for (const username of options.users ?? ['alice', 'bob']) {
      await app.auth.createUser({ username, password: PASSWORD });
    }
    return app;
  }

  /** Returns the message of the error that prevents the start of an application, or null if it starts. */
  static startError(options: TestApplicationOptions): Promise<string | null> {
    return TestApplication.start(options).then(
      (app) => app.close().then(() => null),
      (error: Error) => error.message,
    );
  }

  get auth(): AuthService {
    return this.nest.get(AuthService);
  }

  /** Looks up access tokens, for `AuthService.authenticate` and for the guard. */
  get authentication(): Authenticate {
    return this.nest.get(Authenticate);
  }

  get pruning(): PruningService {
    return this.nest.get(PruningService);
  }

  get dataSource(): DataSource {
    return this.nest.get(DataSource);
  }

  /** An HTTP client. */
  get http(): ReturnType<typeof request> {
    return request(this.nest.getHttpServer());
  }

  get url(): string {
    const { port } = this.nest.getHttpServer().address() as { port: number };
    return `http://127.0.0.1:${port}`;
  }

  /** Returns the payloads of the signals with this name, in order. */
  sent<Name extends AuthSignalName>(name: Name): AuthSignals[Name][] {
    return this.signals.filter((signal) => signal.name === name).map(({ payload }) => payload as AuthSignals[Name]);
  }

  async login(username = 'alice', password = PASSWORD, userAgent = 'test'): Promise<LoginAnswer> {
    const answer = await this.http.post('/auth/login/').set('User-Agent', userAgent).send({ username, password });
    if (answer.status !== 200) throw new Error(`login: ${answer.status} ${answer.text}`);
    return answer.body as LoginAnswer;
  }

  refresh(refreshToken: string): request.Test {
    return this.http.post('/auth/token/refresh/').send({ refresh_token: refreshToken });
  }

  get(path: string, accessToken: string): request.Test {
    return this.http.get(path).set('Authorization', `Bearer ${accessToken}`);
  }

  post(path: string, accessToken: string, body?: object): request.Test {
    const test = this.http.post(path).set('Authorization', `Bearer ${accessToken}`);
    return body === undefined ? test : test.send(body);
  }

  delete(path: string, accessToken: string): request.Test {
    return this.http.delete(path).set('Authorization', `Bearer ${accessToken}`);
  }

  /** Attempts a login with a wrong password. */
  failLogin(username = 'alice'): request.Test {
    return this.http.post('/auth/login').send({ username, password: 'wrong' }).expect(400, INVALID_CREDENTIALS);
  }

  /** Refreshes, and returns the new pair. */
  async refreshed({ refresh_token: token }: Pair): Promise<Pair> {
    return (await this.refresh(token).expect(200)).body as Pair;
  }

  /** Logs in, and presents the refresh token twice. */
  async reuseToken(username = 'alice'): Promise<void> {
    const { refresh_token: token } = await this.login(username);
    await this.refresh(token).expect(200);
    await this.refresh(token).expect(400, INVALID_REFRESH);
  }

  /** Changes a password, by default to the current one. */
  changePassword(accessToken: string, next: unknown = PASSWORD, current = PASSWORD): request.Test {
    return this.post('/auth/password/change', accessToken, { current_password: current, new_password: next });
  }

  /** Asserts that the access tokens are valid. */
  async expectLive(...pairs: Pick<Pair, 'access_token'>[]): Promise<void> {
    for (const { access_token: token } of pairs) await this.get('/me', token).expect(200);
  }

  /** Asserts that both tokens of each pair are refused. */
  async expectRevoked(...pairs: Pair[]): Promise<void> {
    for (const { access_token: access, refresh_token: refresh } of pairs) {
      await this.get('/me', access).expect(401);
      await this.refresh(refresh).expect(400, INVALID_REFRESH);
    }
  }

  /** Returns the principal of a valid access token. */
  async principal(accessToken: string): Promise<AuthPrincipal> {
    return (await this.auth.authenticate(accessToken))!;
  }

  /** Returns the events of a user, most recent first. */
  async history(accessToken: string): Promise<HistoryEntry[]> {
    return (await this.get('/auth/history/?limit=200', accessToken).expect(200)).body as HistoryEntry[];
  }

  /** Returns the names of the events of a user, most recent first. */
  async events(accessToken: string): Promise<string[]> {
    return (await this.history(accessToken)).map(({ event }) => event);
  }

  /** Returns the id of a user in the library's own table. */
  async userId(username = 'alice'): Promise<string> {
    return (await this.dataSource.getRepository(AuthUser).findOneByOrFail({ username })).id;
  }

  /** Disables or enables a user directly in the users table, as an application does. */
  async setActive(username: string, active: boolean): Promise<void> {
    await this.dataSource.getRepository(AuthUser).update({ username }, { active });
  }

  storedSession(id: string): Promise<AuthSession> {
    return this.dataSource.getRepository(AuthSession).findOneByOrFail({ id });
  }

  /** Returns the stored state and end reason of a session. */
  async storedEnd(id: string): Promise<{ state: string; end_reason: string | null }> {
    const [row] = await this.dataSource.query(`SELECT state, end_reason FROM auth_sessions WHERE id = '${id}'`);
    return { ...row };
  }

  /** Returns the ids of the sessions whose end was emitted, each with its reason, sorted by id. */
  emittedEnds(): [id: string, reason: string][] {
    const ends = this.sent('user_logged_out').map(({ session, reason }): [string, string] => [session.id, reason]);
    return ends.sort(([one], [other]) => (one < other ? -1 : 1));
  }

  /** Deletes all rows of the library except the users, and clears the recorded signals and logs. */
  async reset(): Promise<void> {
    for (const entity of AUTH_ENTITIES_WITHOUT_USERS) {
      await this.dataSource.query(`DELETE FROM ${this.dataSource.getMetadata(entity).tableName}`);
    }
    this.signals.length = 0;
    this.logs.length = 0;
  }

  /** Deletes all rows, also those of the users. */
  async clear(): Promise<void> {
    const { entityMetadatas, driver } = this.dataSource;
    for (const { tableName } of entityMetadatas) await this.dataSource.query(`DELETE FROM ${driver.escape(tableName)}`);
  }

  close(): Promise<void> {
    return this.nest.close();
  }
}

/** Returns `ok`, or the code of the error. */
export const okOrCode = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: AuthError) => error.code,
  );

/** The tokens of a session, as the endpoints return them. */
export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface LoginAnswer extends Pair {
  readonly session_id: string;
  readonly token_type: string;
}

/** An event of a history, as the endpoint returns it. */
export interface HistoryEntry {
  readonly id: number;
  readonly event: string;
  readonly ip_address: string | null;
  readonly user_agent: string;
  readonly extra: Record<string, unknown>;
  readonly timestamp: string;
}
