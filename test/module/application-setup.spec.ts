import { type DynamicModule, type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, AuthService, AuthUser, withAuthTables } from 'nestjs-session-auth';
import { CHEAP } from '../support/test-application';
import { MEMORY, SQLITE } from '../support/sqlite';

const database = TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] });
const SILENT = { log() {}, error() {}, warn() {} };
const events = EventEmitterModule.forRoot();

@Module({ imports: [AuthModule.forRoot({ ...CHEAP, maxSessions: 3 })] })
class FeatureModule {}

type Imports = NonNullable<ModuleMetadata['imports']>;

async function start(imports: Imports): Promise<INestApplication> {
  const module = await Test.createTestingModule({ imports }).setLogger(SILENT).compile();
  return module.createNestApplication().init();
}

/** Returns the error message, or null if the application starts. */
const startError = (imports: Imports): Promise<string | null> =>
  start(imports).then(
    (app) => app.close().then(() => null),
    (error: Error) => error.message,
  );

const forRootAsync = (options: object) => AuthModule.forRootAsync(options);
const withoutEntities = TypeOrmModule.forRoot({ ...MEMORY, entities: [] });
const notInitialized = TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES], manualInitialization: true });

describe('an application with an incomplete or invalid setup does not start, and the error says what to change', () => {
  it.each<[string, () => Imports, string]>([
    ['no emitter', () => [database, AuthModule.forRoot(CHEAP)], 'EventEmitterModule.forRoot()'],
    ['no DataSource', () => [events, AuthModule.forRoot(CHEAP)], 'TypeOrmModule.forRoot(withAuthTables({'],
    [
      'no DataSource with the configured name',
      () => [database, events, AuthModule.forRoot({ ...CHEAP, dataSource: 'other' })],
      "name: 'other'",
    ],
    ['no entities', () => [withoutEntities, events, AuthModule.forRoot(CHEAP)], 'forRoot(withAuthTables({ ... }))'],
    [
      'a DataSource that is not initialized',
      () => [notInitialized, events, AuthModule.forRoot(CHEAP)],
      'Remove manualInitialization: true',
    ],
    [
      'options that need a request-scoped provider',
      () => [database, events, forRootAsync({ useFactory: () => CHEAP, inject: [REQUEST] })],
      'is request-scoped, for example one that forRootAsync() injects',
    ],
    [
      'a factory that returns nothing',
      () => [database, events, forRootAsync({ useFactory: () => undefined })],
      'the factory of forRootAsync() returned undefined; return',
    ],
  ])('the startup fails with %s', async (_, imports, line) => {
    expect(await startError(imports())).toContain(line);
  });

  it.each([
    ['before', (emitter: object, auth: object) => [emitter, auth]],
    ['after', (emitter: object, auth: object) => [auth, emitter]],
  ])('an emitter that is not global is found if its module is imported %s AuthModule', async (_, inOrder) => {
    const imports = inOrder(EventEmitterModule.forRoot({ global: false }), AuthModule.forRoot(CHEAP));
    expect(await startError([database, ...(imports as DynamicModule[])])).toBeNull();
  });

  it.each<[string, () => DynamicModule]>([
    ['twice with the same options', () => AuthModule.forRoot(CHEAP)],
    ['by options and by a factory', () => forRootAsync({ useFactory: () => CHEAP })],
    ['twice, the second time in a feature module', () => ({ module: FeatureModule })],
  ])('the startup fails if AuthModule is set up %s', async (_, again) => {
    expect(await startError([database, events, AuthModule.forRoot(CHEAP), again()])).toMatch(
      /^AuthModule is imported 2 times.*Call AuthModule\.forRoot\(\) or forRootAsync\(\) once/,
    );
  });

  it.each([
    ['forRoot()', (options: object, extras: object) => AuthModule.forRoot({ ...options, ...extras })],
    ['forRootAsync()', (options: object, extras: object) => forRootAsync({ useFactory: () => options, ...extras })],
  ])('one error reports all invalid options of %s', async (_, setUp) => {
    const extras = { path: 3, controllers: 'no', globalGuard: 1, dataSource: '', isGlobal: null };
    const error = await startError([database, events, setUp({ maxSessions: 0, users: AuthUser }, extras)]);
    for (const name of ['path', 'controllers', 'globalGuard', 'dataSource', 'isGlobal', 'maxSessions', 'users']) {
      expect(error).toContain(`  - ${name} is `);
    }
    expect(error).toContain('maxSessions is 0; use a whole number from 1 to 1000');
  });
});

describe('the setup of an application', () => {
  it('AuthService works with options from a factory, a named DataSource with migrationsRun and autoLoadEntities, and no controllers', async () => {
    const tables = withAuthTables({ ...SQLITE, database: ':memory:', migrationsRun: true });
    const second = TypeOrmModule.forRoot({ ...tables, name: 'second', autoLoadEntities: true });
    const options = { dataSource: 'second', controllers: false, useFactory: () => CHEAP };
    const app = await start([second, events, AuthModule.forRootAsync(options)]);
    const auth = app.get(AuthService);
    await auth.createUser({ username: 'alice', password: 'secret' }, { skipPolicy: true });
    const { accessToken, sessionId } = await auth.login({ username: 'alice', password: 'secret' });
    expect(await auth.authenticate(accessToken)).toMatchObject({ sessionId });
    await app.close();
  });
});
