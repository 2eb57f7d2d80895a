import { All, type CanActivate, Delete, type DynamicModule, ForbiddenException, Post } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, type AuthModuleExtras, type AuthModuleOptions } from 'nestjs-session-auth';
import { AuthSetupError, type StoredUser, UserStore } from 'nestjs-session-auth';
import request from 'supertest';
import { controllerOf } from '../support/handlers';
import { MEMORY } from '../support/sqlite';
import { ADAPTERS, CHEAP, type PlatformName } from '../support/test-application';

class ReadOnlyUsers extends UserStore {
  findByUsername = async (): Promise<StoredUser | null> => null;
  findById = async (): Promise<StoredUser | null> => null;
}

class WritableUsers extends ReadOnlyUsers {
  override setPasswordHash = async (): Promise<boolean> => true;
}

async function start(platform: PlatformName, ...modules: DynamicModule[]): Promise<NestExpressApplication> {
  const database = TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] });
  const module = await Test.createTestingModule({ imports: [database, EventEmitterModule.forRoot(), ...modules] })
    .setLogger({ log() {}, error() {}, warn() {} })
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(ADAPTERS[platform]());
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Returns the module set up by `forRoot()`, and by `forRootAsync()` of each major of Nest, with the same options. */
function ways(extras: AuthModuleExtras, options: AuthModuleOptions = {}): DynamicModule[] {
  const given = { ...CHEAP, ...options };
  const byFactory = (): DynamicModule => AuthModule.forRootAsync({ ...extras, useFactory: () => given });
  const base = Object.getPrototypeOf(AuthModule) as { extractExtrasFromAsyncOptions(argument: object): object };
  const extract = jest.spyOn(base, 'extractExtrasFromAsyncOptions').mockImplementation((argument) => argument);
  const byFactoryOfNest10 = byFactory();
  extract.mockRestore();
  return [AuthModule.forRoot({ ...extras, ...given }), byFactory(), byFactoryOfNest10];
}

const ROUTES = {
  login: ['POST login'],
  refresh: ['POST token/refresh'],
  logout: ['POST logout'],
  logoutAll: ['POST logout/all'],
  sessions: ['GET sessions', 'DELETE sessions/1'],
  history: ['GET history'],
  passwordChange: ['POST password/change'],
  reauthenticate: ['POST reauthenticate'],
};

/** Returns the routes that the application does not serve. */
async function missingRoutes(app: NestExpressApplication): Promise<string[]> {
  const found = Object.values(ROUTES)
    .flat()
    .map(async (route) => {
      const [method, path] = route.split(' ') as [string, string];
      const send = request(app.getHttpServer())[method.toLowerCase() as 'get'];
      return (await send(`/auth/${path}`)).text.includes('Cannot ') ? [route] : [];
    });
  return (await Promise.all(found)).flat();
}

/** Has routes of the library, and one with a path of the library and another method. */
const Own = controllerOf('auth', [], {
  login: [Post('login/')],
  revoke: [Delete('sessions/:id')],
  history: [All('history')],
  form: [],
});

class OwnModule {}

const OWN = { module: OwnModule, controllers: [Own] };
const SAME = [
  'POST /auth/login (endpoints.login) and auth.login',
  'DELETE /auth/sessions/:sessionId (endpoints.sessions) and auth.revoke',
  'GET /auth/history (endpoints.history) and auth.history',
];

/** A global guard of the application that refuses every request with 403. */
class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException();
  }
}

describe.each<PlatformName>(['express', 'fastify'])('endpoints, on %s', (platform) => {
  async function expectMissing(modules: DynamicModule[], expected: string[]): Promise<void> {
    for (const auth of modules) {
      const app = await start(platform, auth);
      expect(await missingRoutes(app).finally(() => app.close())).toEqual(expected);
    }
  }

  it('all endpoints except reauthenticate are mounted by default', () =>
    expectMissing(ways({}), ROUTES.reauthenticate));

  it.each(Object.keys(ROUTES) as (keyof typeof ROUTES)[])('only %s is not mounted if it is switched off', (name) =>
    expectMissing(ways({ endpoints: { reauthenticate: true, [name]: false } }), ROUTES[name]),
  );

  it('password/change is mounted only if the user store can set passwords', async () => {
    for (const [users, missing] of [
      [ReadOnlyUsers, ROUTES.passwordChange],
      [new ReadOnlyUsers(), ROUTES.passwordChange],
      [WritableUsers, []],
      [new WritableUsers(), []],
    ] as const)
      await expectMissing(ways({ endpoints: { reauthenticate: true } }, { users }), [...missing]);
  });

  it.each(['before', 'after'])(
    'an application that serves the same routes in a module %s AuthModule does not start, and the error names all routes',
    async (order) => {
      for (const auth of ways({})) {
        const modules = order === 'before' ? [OWN, auth] : [auth, OWN];
        const error: Error = await start(platform, ...modules).catch((e) => e);
        expect(error).toBeInstanceOf(AuthSetupError);
        for (const route of SAME) expect(error.message).toContain(route);
        expect(error.message.match(/endpoints\.\w+/g)).toHaveLength(SAME.length);
      }
    },
  );

  it('an application serves its own routes if those of the library are switched off', async () => {
    const endpoints = { login: false, sessions: false, history: false };
    const app = await start(platform, AuthModule.forRoot({ ...CHEAP, endpoints }), OWN);
    expect((await request(app.getHttpServer()).post('/auth/login')).text).toBe('gold');
    expect((await request(app.getHttpServer()).post('/auth/logout')).status).toBe(401);
    await app.close();
  });

  const off = { ...CHEAP, users: ReadOnlyUsers };
  const factory = { useFactory: () => off };
  const refusing = { module: OwnModule, providers: [{ provide: APP_GUARD, useClass: RefusingGuard }] };

  it.each<[string, ...DynamicModule[]]>([
    ['by the options', AuthModule.forRoot(off)],
    ['by the options, behind the global guard', AuthModule.forRoot({ ...off, globalGuard: true })],
    ['by a factory', AuthModule.forRootAsync(factory)],
    ['by a factory, behind the global guard', AuthModule.forRootAsync({ ...factory, globalGuard: true })],
    ['by a factory, behind a guard of the application', AuthModule.forRootAsync(factory), refusing],
  ])(
    'a request to a route that is disabled %s receives the same response as a request to an unknown path',
    async (_, ...modules) => {
      const app = await start(platform, ...modules);
      const post = (path: string): request.Test => request(app.getHttpServer()).post(`/auth/${path}`);
      for (const send of [
        post,
        (path: string) => post(path).set('Authorization', 'Bearer token'),
        (path: string) => post(path).send({ password: 'secret' }),
        (path: string) => post(path).set('Content-Type', 'application/json').send('{'),
        (path: string) => request(app.getHttpServer()).get(`/auth/${path}`),
      ]) {
        const unknown = await send('unknown');
        for (const path of ['reauthenticate', 'password/change']) {
          const { status, text, headers } = await send(path);
          expect([status, text]).toEqual([unknown.status, unknown.text.replace('unknown', path)]);
          expect(Object.keys(headers).sort()).toEqual(Object.keys(unknown.headers).sort());
        }
      }
      expect((await post('password/change')).status).toBe(404);
      await app.close();
    },
  );
});
