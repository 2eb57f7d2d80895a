import {
  All,
  type CanActivate,
  Controller,
  Delete,
  type DynamicModule,
  ForbiddenException,
  Get,
  Module,
  Post,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AuthModule,
  type AuthModuleExtras,
  type AuthModuleOptions,
  AuthSetupError,
  type StoredUser,
  UserStore,
} from 'nestjs-session-auth';
import request from 'supertest';
import { MEMORY } from '../support/sqlite';
import { ADAPTERS, CHEAP, type PlatformName } from '../support/test-application';

class ReadOnlyUsers extends UserStore {
  findByUsername = (): Promise<StoredUser | null> => Promise.resolve(null);
  findById = (): Promise<StoredUser | null> => Promise.resolve(null);
}

class WritableUsers extends ReadOnlyUsers {
  override setPasswordHash(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

async function start(
  platform: PlatformName,
  auth: DynamicModule,
  own: object = {},
  isOwnFirst = false,
): Promise<NestExpressApplication> {
  const imports = [TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] }), EventEmitterModule.forRoot()];
  @Module(own)
  class OwnModule {}
  const module = await Test.createTestingModule({
    imports: [...imports, ...(isOwnFirst ? [OwnModule, auth] : [auth, OwnModule])],
  })
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

describe.each<PlatformName>(['express', 'fastify'])('endpoints, on %s', (platform) => {
  async function missing(auth: DynamicModule): Promise<string[]> {
    const app = await start(platform, auth);
    return missingRoutes(app).finally(() => app.close());
  }

  it('all endpoints except reauthenticate are mounted by default', async () => {
    for (const auth of ways({})) expect(await missing(auth)).toEqual(ROUTES.reauthenticate);
  });

  it.each(Object.keys(ROUTES) as (keyof typeof ROUTES)[])(
    'only %s is not mounted if it is switched off',
    async (name) => {
      for (const auth of ways({ endpoints: { reauthenticate: true, [name]: false } })) {
        expect(await missing(auth)).toEqual(ROUTES[name]);
      }
    },
  );

  it('password/change is mounted only if the user store can set passwords', async () => {
    const endpoints = { reauthenticate: true };
    for (const users of [ReadOnlyUsers, new ReadOnlyUsers()])
      for (const auth of ways({ endpoints }, { users })) expect(await missing(auth)).toEqual(ROUTES.passwordChange);
    for (const users of [WritableUsers, new WritableUsers()])
      for (const auth of ways({ endpoints }, { users })) expect(await missing(auth)).toEqual([]);
  });

  @Controller('auth')
  class OwnController {
    @Post('login/') login(): string {
      return 'own';
    }

    @Delete('sessions/:id') revoke(): void {}

    @All('history') history(): void {}

    // The library has no such routes.
    @Get('login') form(): void {}
  }
  const SAME = [
    'POST /auth/login (endpoints.login) and OwnController.login',
    'DELETE /auth/sessions/:sessionId (endpoints.sessions) and OwnController.revoke',
    'GET /auth/history (endpoints.history) and OwnController.history',
  ];

  it.each(['before', 'after'])(
    'an application that serves the same routes in a module %s AuthModule does not start, and the error names all routes',
    async (order) => {
      for (const auth of ways({})) {
        const error = await start(platform, auth, { controllers: [OwnController] }, order === 'before').catch((e) => e);
        expect(error).toBeInstanceOf(AuthSetupError);
        for (const route of SAME) expect((error as Error).message).toContain(route);
        expect((error as Error).message.match(/endpoints\.\w+/g)).toHaveLength(SAME.length);
      }
    },
  );

  it('an application serves its own routes if those of the library are switched off', async () => {
    const endpoints = { login: false, sessions: false, history: false };
    const app = await start(platform, AuthModule.forRoot({ ...CHEAP, endpoints }), { controllers: [OwnController] });
    expect((await request(app.getHttpServer()).post('/auth/login')).text).toBe('own');
    expect((await request(app.getHttpServer()).post('/auth/logout')).status).toBe(401);
    await app.close();
  });
});

/** A global guard of the application that refuses every request with 403. */
class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException();
  }
}

describe.each<PlatformName>(['express', 'fastify'])('optional routes that are off, on %s', (platform) => {
  const off = { ...CHEAP, users: ReadOnlyUsers };
  const refusing = { providers: [{ provide: APP_GUARD, useClass: RefusingGuard }] };
  const factory = { useFactory: () => off };
  const applications: [string, DynamicModule, object][] = [
    ['by the options', AuthModule.forRoot(off), {}],
    ['by the options, behind the global guard', AuthModule.forRoot({ ...off, globalGuard: true }), {}],
    ['by a factory', AuthModule.forRootAsync(factory), {}],
    ['by a factory, behind the global guard', AuthModule.forRootAsync({ ...factory, globalGuard: true }), {}],
    ['by a factory, behind a guard of the application', AuthModule.forRootAsync(factory), refusing],
  ];

  it.each(applications)(
    'a request to a route that is disabled %s receives the same response as a request to an unknown path',
    async (_, auth, own) => {
      const app = await start(platform, auth, own);
      const post = (path: string): request.Test => request(app.getHttpServer()).post(path);
      const requests: ((path: string) => request.Test)[] = [
        post,
        (path) => post(path).set('Authorization', 'Bearer token'),
        (path) => post(path).send({ password: 'secret' }),
        (path) => post(path).set('Content-Type', 'application/json').send('{'),
        (path) => request(app.getHttpServer()).get(path),
      ];
      for (const send of requests) {
        const unknown = await send('/auth/unknown');
        for (const path of ['reauthenticate', 'password/change']) {
          const { status, text, headers } = await send(`/auth/${path}`);
          expect([status, text]).toEqual([unknown.status, unknown.text.replace('unknown', path)]);
          expect(Object.keys(headers).sort()).toEqual(Object.keys(unknown.headers).sort());
        }
      }
      expect((await post('/auth/password/change')).status).toBe(404);
      await app.close();
    },
  );
});
