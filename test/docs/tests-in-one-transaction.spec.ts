import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { TestingModule } from '@nestjs/testing';
import { BearerAuthGuard, CurrentUser } from 'nestjs-session-auth';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { createDatabase, describeOn } from '../support/databases';
import { describeOnEachServer, INVALID_CREDENTIALS } from '../support/environment';
import { controllerOf, returning } from '../support/handlers';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT, UNIQUE_TEXT } from '../support/mapped-users';
import { startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

const Member = entityOf('Member', { id: GENERATED_ID, email: UNIQUE_TEXT, password: OPTIONAL_TEXT });
const options = mappedUsers({ entity: Member, username: 'email', passwordHash: 'password' }, {}, ['alice']);

const code = codeOf('docs/testing.md');

describeOnEachServer('a test that runs in a transaction which it rolls back', options, ({ app }) => {
  it('the library sees only committed users, and its sessions, events and counts stay', async () => {
    const { dataSource, auth } = app;
    const members = dataSource.getRepository(Member);
    const login = (username: string) => app.http.post('/auth/login').send({ username, password: PASSWORD });
    const { password } = await members.findOneByOrFail({ email: 'alice' });
    const rollBack = await beginShared(dataSource);
    const bob = await members.save({ email: 'bob', password });
    await login('bob').expect(400, INVALID_CREDENTIALS);
    await expect(auth.openSession(bob.id)).rejects.toMatchObject({ code: 'unknown_user' });
    const creation = auth.createUser({ username: 'carol', password: PASSWORD });
    await expect(creation).rejects.toMatchObject({ code: 'not_supported' });
    await login('alice').expect(200);
    await rollBack();
    expect((await members.find()).map(({ email }) => email)).toEqual(['alice']);
    const events: { event: string }[] = await dataSource.query('SELECT event FROM auth_events ORDER BY id');
    expect(events.map(({ event }) => event)).toEqual(['login_failure', 'login_success']);
    expect(await dataSource.query('SELECT id FROM auth_sessions')).toHaveLength(1);
  });
});

/** Begins a transaction that all repositories share. Returns the function that rolls it back. */
async function beginShared(dataSource: DataSource): Promise<() => Promise<void>> {
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  const shared = Object.assign(Object.create(runner) as typeof runner, { release: async () => undefined });
  const create = jest.spyOn(dataSource, 'createQueryRunner').mockReturnValue(shared);
  return async () => {
    create.mockRestore();
    await runner.rollbackTransaction();
    await runner.release();
  };
}

describeOn('postgres')('the code for such tests in docs/testing.md on %s', (name) => {
  type Prepare = (dataSource: DataSource, ...names: string[]) => Promise<void>;
  const { emptyTables } = code<{ emptyTables: Prepare }>('### Commit, and empty the tables');
  const { copyDatabase } = code<{ copyDatabase: Prepare }>('### A database for each test file');

  it('emptyTables() deletes all rows, and the application goes on with the same users again', async () => {
    const app = await startForTest(name, options);
    await app.login();
    await emptyTables(app.dataSource);
    for (const table of ['member', 'auth_sessions', 'auth_events']) {
      expect(await app.dataSource.query(`SELECT * FROM ${table}`)).toEqual([]);
    }
    expect(await app.auth.createUser({ username: 'alice', password: PASSWORD })).toEqual({ id: 1, username: 'alice' });
    await app.login();
  });

  it('copyDatabase() creates a database with the tables of another one, also if it exists', async () => {
    const template = await createDatabase(name);
    const admin = await createDatabase(name);
    const { url } = template.options as { url: string };
    const [from, to] = [new URL(url).pathname.slice(1), `${new URL(url).pathname.slice(1)}_copy`];
    const filled = await new DataSource({ ...template.options, entities: [Member], synchronize: true }).initialize();
    await filled.destroy();
    const connection = await new DataSource(admin.options).initialize();
    for (let i = 0; i < 2; i++) await copyDatabase(connection, from, to);
    const copy = await new DataSource({ type: 'postgres', url: `${url}_copy`, entities: [Member] }).initialize();
    expect(await copy.getRepository(Member).count()).toBe(0);
    await copy.destroy();
    await connection.query(`DROP DATABASE "${to}"`);
    await connection.destroy();
    await template.drop();
    await admin.drop();
  });
});

@Module({
  controllers: [controllerOf('', [], { me: [returning(CurrentUser())] })],
  providers: [BearerAuthGuard, { provide: APP_GUARD, useExisting: BearerAuthGuard }],
})
class AppModule {}

it('the replaced guard in docs/testing.md admits the user of the current test without a database', async () => {
  const heading = '### Keep the transaction, and replace the guard';
  const { testingModule } = code<{ testingModule: Promise<TestingModule> }>(heading, {
    modules: { '../src/app.module.js': { AppModule } },
    replaced: { 'const testingModule = await': 'export const testingModule =' },
  });
  const app = await (await testingModule).createNestApplication().init();
  const { body } = await request(app.getHttpServer()).get('/me').expect(200);
  expect(body).toMatchObject([{ username: 'alice@example.com' }]);
  await app.close();
});
