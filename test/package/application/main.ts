import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, UseGuards, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import {
  AuthModule,
  AuthService,
  AuthUser,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OnAuthSignal,
  type AuthSignals,
  type SessionInfo,
  withAuthTables,
} from 'nestjs-session-auth';
import { hasNodeSqlite, NodeSqlite } from 'nestjs-session-auth/node-sqlite';
import { actingAs, Clock, recordSignals } from 'nestjs-session-auth/testing';
import { AuthClient, ClientError, type Session } from 'nestjs-session-auth-client';
import { DataSource } from 'typeorm';

const given = JSON.parse(process.env['APPLICATION_DATABASE']!) as TypeOrmModuleOptions;
const PASSWORD = 'correct horse battery staple';
const database = given.type === 'better-sqlite3' && hasNodeSqlite() ? { ...given, driver: NodeSqlite } : given;

@Controller('me')
@UseGuards(BearerAuthGuard)
class MeController {
  /** Nest finds the service by its class only if the module and this file load the same class. */
  constructor(private readonly auth: AuthService) {}

  @Get()
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { username: user.username, session_id: session.id, has_service: this.auth instanceof AuthService };
  }
}

/** Listens to signals with `@OnEvent` and with the library's own decorator. */
@Controller('alerts')
class AlertsController {
  private readonly reuses: object[] = [];
  private readonly ends: string[] = [];

  @OnEvent('token_reuse_detected')
  warn({ session, sessionsEnded }: AuthSignals['token_reuse_detected']): void {
    this.reuses.push({ session_id: session.id, sessions_ended: sessionsEnded });
  }

  @OnAuthSignal('user_logged_out')
  note({ reason }: AuthSignals['user_logged_out']): void {
    this.ends.push(reason);
  }

  @Get()
  list(): object {
    return { reuses: this.reuses, ends: this.ends };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot(withAuthTables({ ...database, migrationsRun: true })),
    EventEmitterModule.forRoot(),
    AuthModule.forRootAsync({ useFactory: () => ({ sessionPolicy: 'max_count', maxSessions: 10, bcryptCost: 10 }) }),
  ],
  controllers: [MeController, AlertsController],
})
class AppModule {}

interface Document {
  readonly paths: Record<string, { post?: { operationId?: string; responses: object } }>;
}

interface Swagger {
  readonly DocumentBuilder: new () => { build(): object };
  readonly SwaggerModule: { createDocument(app: INestApplication, config: object): Document };
}

/** Loaded at run time and without types, because one of the applications does not install the package. */
const SWAGGER: string = '@nestjs/swagger';

/** With `@nestjs/swagger` installed, checks that the document contains the endpoints of the library. */
async function tryOpenApi(app: INestApplication): Promise<void> {
  const swagger: Swagger | null = await import(SWAGGER).catch(() => null);
  if (!swagger) return;
  const { paths } = swagger.SwaggerModule.createDocument(app, new swagger.DocumentBuilder().build());
  const operation = paths['/auth/login']?.post;
  check(operation?.operationId === 'authLogin' && '429' in operation.responses, 'the document contains the login');
}

/** Uses the testing kit. */
async function tryTestingKit(app: INestApplication, user: AuthUser): Promise<void> {
  const signals = recordSignals(app);
  const acting = await actingAs(app, user);
  const principal = await app.get(AuthService).authenticate(acting.accessToken);
  check(principal?.sessionId === acting.sessionId, 'actingAs() opens a session');
  check(signals.of('user_logged_in').length === 1, 'recordSignals() records');
  check(app.get(Clock, { strict: false }) instanceof Clock, 'Clock is the class that the module provides');
}

async function tryClient(baseUrl: string): Promise<void> {
  const client = new AuthClient({ baseUrl });
  await client.login('bob', PASSWORD);
  const sessions: Session[] = await client.sessions();
  check(
    sessions.some(({ id, isCurrent }) => isCurrent && id === client.sessionId),
    'the client lists its session',
  );
  check((await client.fetch('/me')).ok, 'the client sends its token');
  const error: unknown = await client.login('bob', 'wrong').catch((thrown: unknown) => thrown);
  check(error instanceof ClientError && error.code === 'invalid_credentials', 'the client rejects with its own error');
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It does not hold that ${what}.`);
}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.init();
  await tryOpenApi(app);
  const auth = app.get(AuthService);
  await auth.createUser({ username: 'bob', password: PASSWORD });
  const bob = await app.get(DataSource).getRepository(AuthUser).findOneByOrFail({ username: 'bob' });
  await tryTestingKit(app, bob);
  await auth.createUser({ username: 'alice', password: PASSWORD });
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  await tryClient(`http://127.0.0.1:${port}`);
  console.log(`listening ${port}`);
}
void main();
