import {
  Controller,
  ForbiddenException,
  Injectable,
  Module,
  Post,
  type CanActivate,
  type DynamicModule,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, UserStore, type AuthModuleOptions, type StoredUser } from 'nestjs-session-auth';
import request from 'supertest';
import { ADAPTERS, CHEAP, type PlatformName } from '../support/test-application';
import { MEMORY } from '../support/sqlite';

const SILENT = { log() {}, error() {}, warn() {} };

class ReadOnlyUsers extends UserStore {
  override findByUsername(): Promise<StoredUser | null> {
    return Promise.resolve(null);
  }

  override findById(): Promise<StoredUser | null> {
    return Promise.resolve(null);
  }
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
  fallback(): object {
    return { fallback: true };
  }
}

@Module({ controllers: [FallbackController] })
class FallbackModule {}

async function start(platform: PlatformName, ...imports: (DynamicModule | Type)[]): Promise<NestExpressApplication> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] }),
      EventEmitterModule.forRoot(),
      ...imports,
    ],
  })
  class ApplicationModule {}
  const module = await Test.createTestingModule({ imports: [ApplicationModule] })
    .setLogger(SILENT)
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
  it.each<[string, string, AuthModuleOptions]>([
    ['reauthenticate', 'by default', {}],
    ['password/change', 'if the user store cannot set passwords', { users: ReadOnlyUsers }],
    ['password/change', 'if an instance of the user store cannot set passwords', { users: new ReadOnlyUsers() }],
  ])('the route %s is not mapped %s, with forRoot() and forRootAsync()', async (path, _, options) => {
    for (const auth of ways(options)) {
      const app = await start('express', auth, FallbackModule);
      await request(app.getHttpServer()).post(`/auth/${path}`).expect(201, { fallback: true });
      await app.close();
    }
  });

  it.each<[string, AuthModuleOptions]>([
    ['reauthenticate', { recentLogin: { endpoint: true } }],
    ['password/change', {}],
    ['password/change', { users: WritableUsers }],
    ['password/change', { users: new WritableUsers() }],
  ])('the route %s is mapped with the options %p', async (path, options) => {
    for (const auth of ways(options)) {
      const app = await start('express', auth, FallbackModule);
      await request(app.getHttpServer()).post(`/auth/${path}`).expect(401);
      await app.close();
    }
  });
});

/** A global guard of the application that refuses every request with 403. */
@Injectable()
class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new ForbiddenException();
  }
}

const REFUSING: DynamicModule = {
  module: class RefusingModule {},
  providers: [{ provide: APP_GUARD, useClass: RefusingGuard }],
};

describe.each<PlatformName>(['express', 'fastify'])('optional routes that are off, on %s', (platform) => {
  const off = { ...CHEAP, users: ReadOnlyUsers };
  const applications: [string, DynamicModule, ...DynamicModule[]][] = [
    ['by the options', AuthModule.forRoot(off)],
    ['by the options, behind the global guard', AuthModule.forRoot({ ...off, globalGuard: true })],
    ['by a factory', AuthModule.forRootAsync({ useFactory: () => off })],
    ['by a factory, behind the global guard', AuthModule.forRootAsync({ useFactory: () => off, globalGuard: true })],
    ['by a factory, behind a guard of the application', AuthModule.forRootAsync({ useFactory: () => off }), REFUSING],
  ];

  it.each(applications)(
    'a request to a route that is disabled %s receives the same response as a request to an unknown path',
    async (_, ...imports) => {
      const app = await start(platform, ...imports);
      const requests: ((path: string) => request.Test)[] = [
        (path) => request(app.getHttpServer()).post(path),
        (path) => request(app.getHttpServer()).post(path).set('Authorization', 'Bearer token'),
        (path) => request(app.getHttpServer()).post(path).send({ password: 'secret' }),
        (path) => request(app.getHttpServer()).post(path).set('Content-Type', 'application/json').send('{'),
        (path) => request(app.getHttpServer()).get(path),
      ];
      for (const send of requests) {
        const unknown = await send('/auth/unknown');
        for (const path of ['reauthenticate', 'password/change']) {
          const { status, text, headers } = await send(`/auth/${path}`);
          expect([status, text]).toEqual([unknown.status, unknown.text.replace('unknown', path)]);
          const names = (of: object): string[] => Object.keys(of).sort();
          expect(names(headers as object)).toEqual(names(unknown.headers as object));
        }
      }
      expect((await requests[0]!('/auth/password/change')).status).toBe(404);
      await app.close();
    },
  );
});
