import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, AuthService, AuthUser } from 'nestjs-session-auth';
import { TestApplication, CHEAP } from '../support/test-application';
import { createDatabase } from '../support/databases';
import { MEMORY } from '../support/sqlite';

const database = TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] });
const SILENT = { log() {}, error() {}, warn() {} };
const events = EventEmitterModule.forRoot();

@Module({ imports: [AuthModule.forRoot({ ...CHEAP, maxSessions: 3 })] })
class FeatureModule {}

/** Returns the error that prevents the start of an application with these imports. */
async function startError(imports: ModuleMetadata['imports']): Promise<string> {
  @Module({ imports: imports ?? [] })
  class ApplicationModule {}
  const compiling = Test.createTestingModule({ imports: [ApplicationModule] })
    .setLogger(SILENT)
    .compile();
  return compiling.then(
    (module) =>
      module
        .createNestApplication()
        .init()
        .then(async (app) => {
          await app.close();
          return 'it started';
        })
        .catch((error: Error) => error.message),
    (error: Error) => error.message,
  );
}

describe('an application with an incomplete or invalid setup does not start, and the error says what to change', () => {
  it.each([
    ['no emitter', () => [database, AuthModule.forRoot(CHEAP)], 'EventEmitterModule.forRoot()'],
    ['no DataSource', () => [events, AuthModule.forRoot(CHEAP)], 'TypeOrmModule.forRoot({'],
    [
      'no DataSource with the configured name',
      () => [database, events, AuthModule.forRoot({ ...CHEAP, dataSource: 'other' })],
      "name: 'other'",
    ],
    [
      'no entities',
      () => [TypeOrmModule.forRoot({ ...MEMORY, entities: [] }), events, AuthModule.forRoot(CHEAP)],
      'entities: [...AUTH_ENTITIES]',
    ],
    [
      'a DataSource that is not initialized',
      () => [
        TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES], manualInitialization: true }),
        events,
        AuthModule.forRoot(CHEAP),
      ],
      'Remove manualInitialization: true',
    ],
    [
      'options that need a request-scoped provider',
      () => [
        database,
        events,
        AuthModule.forRootAsync({
          useFactory: () => CHEAP,
          inject: [REQUEST],
        }),
      ],
      'is request-scoped, for example one that forRootAsync() injects',
    ],
  ])('the startup fails with %s', async (_, imports, line) => {
    expect(await startError(imports())).toContain(line);
  });

  it.each([
    ['before', (emitter: object, auth: object) => [emitter, auth]],
    ['after', (emitter: object, auth: object) => [auth, emitter]],
  ])('an emitter that is not global is found if its module is imported %s AuthModule', async (_, inOrder) => {
    const imports = inOrder(EventEmitterModule.forRoot({ global: false }), AuthModule.forRoot(CHEAP));
    expect(await startError([database, ...(imports as DynamicModule[])])).toBe('it started');
  });

  it('all invalid options are reported in one error that says what to write instead', async () => {
    const auth = { maxSessions: 0, trackIps: 'no', sessionPolicy: 'some', color: 'red', path: 3 } as never;
    const error = await startError([database, events, AuthModule.forRoot(auth)]);
    expect(error).toContain('maxSessions is 0; use a whole number from 1 to 1000');
    expect(error).toContain("trackIps is 'no'; use true or false");
    expect(error).toContain("sessionPolicy is 'some'; use one of 'multi', 'single', 'max_count'");
    expect(error).toContain('color is not an option');
    expect(error).toContain("path is 3; use a string such as 'auth'");
  });

  it.each([
    [
      'twice with different options',
      () => [AuthModule.forRoot(CHEAP), AuthModule.forRoot({ ...CHEAP, trackIps: false })],
    ],
    ['twice with the same options', () => [AuthModule.forRoot(CHEAP), AuthModule.forRoot(CHEAP)]],
    [
      'by options and by a factory',
      () => [AuthModule.forRoot(CHEAP), AuthModule.forRootAsync({ useFactory: () => CHEAP, dataSource: 'other' })],
    ],
    ['twice, the second time in a feature module', () => [AuthModule.forRoot(CHEAP), FeatureModule]],
  ])('the startup fails if AuthModule is set up %s', async (_, imports) => {
    expect(await startError([database, events, ...imports()])).toMatch(
      /^AuthModule is imported 2 times.*Call AuthModule\.forRoot\(\) or forRootAsync\(\) once/,
    );
  });

  it.each([
    ['an entity', AuthUser, /users is \[class AuthUser\]; use \{ entity: User, username/],
    [
      'a class that does not extend UserStore',
      AuthService,
      /users is \[class AuthService\]; use .*, or a class that extends UserStore/,
    ],
  ])('%s as the option `users` is reported', async (_, users, problem) => {
    expect(await startError([database, events, AuthModule.forRoot({ ...CHEAP, users: users as never })])).toMatch(
      problem,
    );
  });

  it.each([
    ['forRoot()', (options: object, extras: object) => AuthModule.forRoot({ ...options, ...extras })],
    [
      'forRootAsync()',
      (options: object, extras: object) => AuthModule.forRootAsync({ useFactory: () => options, ...extras }),
    ],
  ])('one error reports all invalid options of %s', async (_, setUp) => {
    const extras = { path: 3, controllers: 'no', globalGuard: 1, dataSource: '', isGlobal: null } as never;
    const error = await startError([database, events, setUp({ maxSessions: 0, users: AuthUser }, extras)]);
    for (const name of ['path', 'controllers', 'globalGuard', 'dataSource', 'isGlobal', 'maxSessions', 'users']) {
      expect(error).toContain(`  - ${name} is `);
    }
  });

  it('an instance of a class is refused as the options, because only its own properties would be read', () => {
    class Options {
      get maxSessions(): number {
        return 1;
      }
    }
    expect(() => AuthModule.forRoot(new Options())).toThrow(
      'the argument of forRoot() is Options {}; use a plain object with the options',
    );
  });

  it.each([
    [
      'returns nothing',
      { useFactory: (): unknown => undefined },
      'the factory of forRootAsync() returned undefined; return',
    ],
    [
      'is next to an option that it must return',
      { useFactory: () => CHEAP, maxSessions: 3 },
      'maxSessions is next to the factory of forRootAsync(); return it from the factory',
    ],
    [
      'returns an option that must be next to it',
      { useFactory: () => ({ ...CHEAP, path: 'x' }), controllers: 1 },
      'path is in the result of the factory; pass it to forRootAsync() next to the factory',
    ],
  ])('a factory that %s is reported at startup', async (_, options, problem) => {
    expect(await startError([database, events, AuthModule.forRootAsync(options as never)])).toContain(problem);
  });
});

describe('the setup of an application', () => {
  it('AuthService works with options from a factory, a named DataSource and no controllers', async () => {
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...MEMORY, name: 'second', entities: [...AUTH_ENTITIES] }),
        events,
        AuthModule.forRootAsync({ dataSource: 'second', controllers: false, useFactory: () => CHEAP }),
      ],
    })
    class HostModule {}
    const module = await Test.createTestingModule({ imports: [HostModule] }).compile();
    const app = await module.createNestApplication().init();
    const auth = app.get(AuthService);
    const user = await auth.createUser({ username: 'alice', password: 'secret' }, { skipPolicy: true });
    expect(Object.keys(user)).toEqual(['id', 'username']);
    const opened = await auth.login({ username: 'alice', password: 'secret' }, { ipAddress: '::ffff:192.0.2.1' });
    const principal = (await auth.authenticate(opened.accessToken))!;
    expect(principal).toMatchObject({ userId: user.id, sessionId: opened.sessionId });
    const session = { id: opened.sessionId, ipAddress: '192.0.2.1', isCurrent: true };
    expect(await auth.currentSession(principal)).toMatchObject(session);
    const other = await auth.openSession(user);
    expect(await auth.listSessions(user.id)).toHaveLength(2);
    expect(await auth.logoutAll(principal, { keepCurrent: true })).toBe(1);
    expect(await auth.authenticate(other.accessToken)).toBeNull();
    await expect(auth.login({ username: 'alice', password: 'no' })).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    await expect(auth.createUser({ username: 'alice', password: 'x' }, { skipPolicy: true })).rejects.toMatchObject({
      code: 'username_taken',
    });
    await expect(auth.openSession('nobody')).rejects.toMatchObject({ code: 'unknown_user' });
    await app.close();
  });

  it('an application can guard every route and make some routes public', async () => {
    const sqlite = await createDatabase('sqlite');
    const app = await TestApplication.start({ database: sqlite, auth: { globalGuard: true } });
    await app.http.get('/open').expect(200);
    await app.http.get('/me').expect(401);
    const { access_token: token } = await app.login();
    await app.get('/auth/sessions', token).expect(200);
    await app.close();
    await sqlite.drop();
  });
});
