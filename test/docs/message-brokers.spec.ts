import { Controller, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientProxyFactory,
  ClientsModule,
  MessagePattern,
  NatsContext,
  NatsRecordBuilder,
  RmqContext,
  RmqRecordBuilder,
  type ClientOptions,
  type ClientProviderOptions,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { AUTH_ENTITIES, CurrentUser, TokenSource, type AuthModuleOptions } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import type { DataSource } from 'typeorm';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { describeOnEachBroker, optionsOf, untilConfirmed, type BrokerName } from '../support/brokers';
import { describeOn } from '../support/databases';
import { describeApplication } from '../support/environment';
import { MINUTE } from '../support/driven-clock';
import { classOf, GUARD, returning } from '../support/handlers';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication, type LoginAnswer } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { codeOf } from './run-block';

const PAGE = 'docs/microservices.md';
const VERIFIES = '## Or the service verifies the token';
const code = codeOf(PAGE);
const { OrdersGateway } = code('## The gateway authenticates');
const { OrdersController } = code('## The gateway authenticates', {}, 1);
let serviceOptions: AuthModuleOptions = {};
const forRoot = (options: AuthModuleOptions) => void (serviceOptions = options);
const { MessageTokens } = code<{ MessageTokens: new () => TokenSource }>(VERIFIES, {
  modules: { 'nestjs-session-auth': { TokenSource, AuthModule: { forRoot } } },
});
const [grants] = blocksUnder(PAGE, VERIFIES, 'sql');

const send = (client: ClientProxy, pattern: string, data: unknown): Promise<unknown> =>
  firstValueFrom(client.send<unknown>(pattern, data)).catch((error: unknown) => ({ error }));

@Module({ controllers: [OrdersController!] })
class ServiceModule {}

describeOnEachBroker('the messages in docs/microservices.md', (broker) => {
  const options = optionsOf(broker, `orders_${process.pid}`);
  const client = ClientProxyFactory.create(options as ClientOptions);
  const imports = [ClientsModule.register([{ name: 'ORDERS', ...options } as ClientProviderOptions])];
  afterAll(() => client.close());

  describe('from a gateway that authenticates', () => {
    let service: INestMicroservice;
    beforeAll(async () => {
      service = await NestFactory.createMicroservice<MicroserviceOptions>(ServiceModule, { ...options, logger: false });
      await service.listen();
    });
    afterAll(async () => {
      await untilConfirmed(service);
      await service.close();
    });

    describeApplication('the gateway', { imports, controllers: [OrdersGateway!] }, ({ app }) => {
      it('a client that sends a caller of its own in the body is still itself', async () => {
        const { access_token: accessToken, session_id: sessionId } = await app.login();
        const forged = { item: 'book', caller: { userId: await app.userId('bob'), sessionId, verifiedAt: 0 } };
        const { body } = await app.post('/orders', accessToken, forged).expect(201);
        expect(body).toEqual({ order: forged, userId: await app.userId('alice') });
      });

      it('the service refuses a message whose caller was verified too long ago, or not at all', async () => {
        const verifiedAt = Date.now() - 60_000;
        const error = { status: 'error', code: 'caller_not_verified' };
        for (const data of [{ caller: { userId: '1', verifiedAt } }, { caller: { userId: '1' } }, {}, 'text']) {
          expect(await send(client, 'orders.create', data)).toEqual({ error });
        }
      });
    });
  });

  it('a service that verifies the token itself finds it in the headers, or in the message on Redis', async () => {
    const handlers = { me: [returning(CurrentUser())] };
    const app = await startForTest('sqlite', {
      auth: { tokenSource: MessageTokens },
      controllers: [classOf('Guarded', [Controller(), GUARD], handlers, { mapping: MessagePattern })],
      configure: (nest) => {
        nest.connectMicroservice<MicroserviceOptions>(options, { inheritAppConfig: true });
        return nest.startAllMicroservices();
      },
    });
    const { access_token: accessToken } = await app.login();
    expect(await send(client, 'me', await messageWith(broker, accessToken))).toMatchObject([{ username: 'alice' }]);
    const missing = await send(client, 'me', broker === 'Redis' ? {} : { accessToken });
    expect(missing).toEqual({ error: expect.objectContaining({ code: 'credentials_missing' }) });
    await untilConfirmed(app.nest.getMicroservices()[0]!);
  });
});

async function messageWith(broker: BrokerName, accessToken: string): Promise<unknown> {
  if (broker === 'Redis') return { accessToken };
  const options = { headers: { authorization: accessToken } };
  if (broker === 'RabbitMQ') return new RmqRecordBuilder({}).setOptions(options).build();
  const { headers } = await import('@nats-io/transport-node');
  const found = headers();
  found.set('authorization', accessToken);
  return new NatsRecordBuilder({}).setHeaders(found).build();
}

describe('the token source in docs/microservices.md', () => {
  it.each([
    ['a NATS message without headers', 'rpc', new NatsContext(['orders', undefined])],
    ['a NATS message without a token', 'rpc', new NatsContext(['orders', new Map()])],
    ['a RabbitMQ message without headers', 'rpc', new RmqContext([{ properties: {} }, {}, 'orders'])],
    ['a missing context', 'rpc', undefined],
    ['an HTTP request', 'http', {}],
  ])('the token source finds no token, and does not throw, in %s', (_, type, context) => {
    const call = { getType: () => type, getArgByIndex: (index: number) => (index === 1 ? context : null) };
    expect(new MessageTokens().find(call as never)).toBeNull();
  });
});

describeOn('postgres')('the rights in docs/microservices.md on %s', (name) => {
  it('a service with these rights verifies tokens, stores their first use, and can end and change nothing else', async () => {
    const database = await databaseForTest(name);
    const gateway = await startForTest(database, { auth: { refreshReuseGraceSeconds: 20 } });
    const role = `orders_${process.pid}`;
    for (const statement of grants!.code.replaceAll('orders_service', role).split(';\n').filter(Boolean)) {
      await gateway.dataSource.query(statement);
    }
    const url = new URL((database.options as { url: string }).url);
    [url.username, url.password] = [role, 'secret'];
    const asService = { ...database, options: { type: 'postgres', url: url.href }, tables: AUTH_ENTITIES } as const;
    const service = await TestApplication.start({ database: asService, users: [], auth: serviceOptions });
    const { auth } = service;

    const first = await gateway.login();
    expect(await auth.authenticate(first.access_token)).toMatchObject({ sessionId: first.session_id });
    const pair = (await gateway.refresh(first.refresh_token).expect(200)).body as LoginAnswer;
    const principal = (await auth.authenticate(pair.access_token))!;
    expect(await auth.loadUser(principal)).toMatchObject({ username: 'alice' });
    expect(await auth.listSessions(principal.userId)).toHaveLength(1);
    const stored = await gateway.storedSession(first.session_id);
    expect(stored.firstUsedAt).toBe(gateway.clock.now());
    service.clock.advance(MINUTE);
    await auth.authenticate(pair.access_token);
    await service.nest.get(Activity).flush();
    expect((await gateway.storedSession(first.session_id)).lastActivity).toBe(stored.lastActivity + MINUTE);

    for (const sql of [
      'SELECT password_hash FROM auth_users',
      'UPDATE auth_users SET active = true',
      'UPDATE auth_sessions SET user_id = 1::text',
      'UPDATE auth_sessions SET access_digest = refresh_digest',
      'DELETE FROM auth_sessions',
      'SELECT * FROM auth_events',
    ]) {
      await expect(service.dataSource.query(sql)).rejects.toMatchObject({ driverError: { code: '42501' } });
    }
    await gateway.setActive('alice', false);
    expect(await auth.authenticate(pair.access_token)).toBeNull();
    await service.close();
    await gateway.dataSource.query(`DROP OWNED BY ${role}`);
    await gateway.dataSource.query(`DROP ROLE ${role}`);
  });
});

describeApplication('the job in docs/microservices.md', {}, ({ app }) => {
  it('a job of a user who was disabled in the meantime, or whose report is another user’s, has no effect', async () => {
    const built: number[] = [];
    const userId = await app.userId();
    const reports = {
      belongsTo: async (id: number, owner: string) => id === 1 && owner === userId,
      build: async (id: number) => void built.push(id),
    };
    type Jobs = new (dataSource: DataSource, own: typeof reports) => { build(job: object): Promise<void> };
    const { ReportJobs } = code<{ ReportJobs: Jobs }>('## Messages processed later', {
      modules: { './reports.js': {} },
    });
    const jobs = new ReportJobs(app.dataSource, reports);
    await jobs.build({ userId, reportId: 2 });
    await app.setActive('alice', false);
    await jobs.build({ userId, reportId: 1 });
    expect(built).toEqual([]);
    await app.setActive('alice', true);
    await jobs.build({ userId, reportId: 1 });
    expect(built).toEqual([1]);
  });
});
