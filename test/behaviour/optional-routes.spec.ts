import { Controller, Module, Post, type DynamicModule } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, UserStore, type AuthModuleOptions, type StoredUser } from 'nestjs-session-auth';
import request from 'supertest';
import { CHEAP } from '../support/host';

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

/** Routes of the application behind the library's. */
@Controller('auth')
class FallbackController {
  @Post(['reauthenticate', 'password/change'])
  fallback(): object {
    return { fallback: true };
  }
}

@Module({ controllers: [FallbackController] })
class FallbackModule {}

async function start(auth: DynamicModule, ...imports: (typeof FallbackModule)[]): Promise<NestExpressApplication> {
  const memory = { type: 'better-sqlite3', database: ':memory:', synchronize: true, retryAttempts: 0 } as const;
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...memory, entities: [...AUTH_ENTITIES] }),
      EventEmitterModule.forRoot(),
      auth,
      ...imports,
    ],
  })
  class HostModule {}
  const module = await Test.createTestingModule({ imports: [HostModule] })
    .setLogger(SILENT)
    .compile();
  const app = module.createNestApplication<NestExpressApplication>();
  await app.listen(0, '127.0.0.1');
  return app;
}

describe('an optional route', () => {
  it.each<[string, string, AuthModuleOptions]>([
    ['reauthenticate', 'by default', {}],
    ['password/change', 'where the user store sets no passwords', { users: ReadOnlyUsers }],
    ['password/change', 'where an instance of the user store sets no passwords', { users: new ReadOnlyUsers() }],
  ])('%s is not mapped %s', async (path, _, options) => {
    const app = await start(AuthModule.forRoot({ ...CHEAP, ...options }), FallbackModule);
    await request(app.getHttpServer()).post(`/auth/${path}`).expect(201, { fallback: true });
    await app.close();
  });

  it.each<[string, AuthModuleOptions]>([
    ['reauthenticate', { recentLogin: { endpoint: true } }],
    ['password/change', {}],
    ['password/change', { users: WritableUsers }],
    ['password/change', { users: new WritableUsers() }],
  ])('%s is mapped with %j', async (path, options) => {
    for (const auth of [
      AuthModule.forRoot({ ...CHEAP, ...options }),
      AuthModule.forRootAsync({ useFactory: () => ({ ...CHEAP, ...options }) }),
    ]) {
      const app = await start(auth, FallbackModule);
      await request(app.getHttpServer()).post(`/auth/${path}`).expect(401);
      await app.close();
    }
  });

  it.each([true, false])("that a factory turns off has the platform's 404 (with a token: %s)", async (hasToken) => {
    const app = await start(AuthModule.forRootAsync({ useFactory: () => ({ ...CHEAP, users: ReadOnlyUsers }) }));
    const post = (path: string): request.Test => {
      const test = request(app.getHttpServer()).post(path);
      return hasToken ? test.set('Authorization', 'Bearer token') : test;
    };
    const unknown = await post('/auth/unknown').expect(404);
    for (const path of ['reauthenticate', 'password/change']) {
      const off = await post(`/auth/${path}`).expect(404);
      expect(off.text).toBe(unknown.text.replace('unknown', path));
      const names = (headers: object): string[] => Object.keys(headers).sort();
      expect(names(off.headers as object)).toEqual(names(unknown.headers as object));
    }
    await app.close();
  });
});
