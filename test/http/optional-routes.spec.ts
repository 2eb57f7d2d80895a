import { Controller, ForbiddenException, Module, Post, type CanActivate, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, UserStore, type AuthModuleOptions, type StoredUser } from 'nestjs-session-auth';
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

/** Routes of the application that are registered after the routes of the library. */
@Controller('auth')
class FallbackController {
  @Post(['reauthenticate', 'password/change'])
  fallback(): void {}
}

async function start(platform: PlatformName, auth: DynamicModule, own: object = {}): Promise<NestExpressApplication> {
  const imports = [TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] }), EventEmitterModule.forRoot()];
  @Module(own)
  class OwnModule {}
  const module = await Test.createTestingModule({ imports: [...imports, auth, OwnModule] })
    .setLogger({ log() {}, error() {}, warn() {} })
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(ADAPTERS[platform]());
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Returns the module set up by `forRoot()` and by `forRootAsync()` with the same options. */
function ways(options: AuthModuleOptions): DynamicModule[] {
  const given = { ...CHEAP, ...options };
  return [AuthModule.forRoot(given), AuthModule.forRootAsync({ useFactory: () => given })];
}

describe('optional routes', () => {
  it.each<[string, 'is' | 'is not', AuthModuleOptions]>([
    ['reauthenticate', 'is not', {}],
    ['reauthenticate', 'is', { recentLogin: { endpoint: true } }],
    ['password/change', 'is', {}],
    ['password/change', 'is not', { users: ReadOnlyUsers }],
    ['password/change', 'is not', { users: new ReadOnlyUsers() }],
    ['password/change', 'is', { users: WritableUsers }],
    ['password/change', 'is', { users: new WritableUsers() }],
  ])('the route %s %s mapped with the options %p of forRoot() and forRootAsync()', async (path, isMapped, options) => {
    for (const auth of ways(options)) {
      const app = await start('express', auth, { controllers: [FallbackController] });
      await request(app.getHttpServer())
        .post(`/auth/${path}`)
        .expect(isMapped === 'is' ? 401 : 201);
      await app.close();
    }
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
