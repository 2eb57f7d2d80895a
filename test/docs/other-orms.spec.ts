import type { ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core';
import { Kysely, PostgresDialect, type Generated } from 'kysely';
import { AuthService, type UserStore } from 'nestjs-session-auth';
import { Pool } from 'pg';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { describeOn } from '../support/databases';
import { mappedUsers, storedUsers } from '../support/mapped-users';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

const code = codeOf('docs/other-orms.md');
const STORE = '## Or read users with your ORM';
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of closing.splice(0)) await end();
});

async function start(imports: NonNullable<ModuleMetadata['imports']>) {
  const module = await Test.createTestingModule({ imports }).compile();
  closing.unshift(() => module.close());
  await module.init();
  return { auth: module.get(AuthService), dataSource: module.get(DataSource) };
}

const login = (auth: AuthService) => auth.login({ username: 'alice', password: PASSWORD });

interface Tables {
  users: { id: Generated<number>; email: string; password: string | null; disabled_at?: Date | null };
  profiles: { user_id: number; plan: string };
}
const users = pgTable('users', {
  id: serial().primaryKey(),
  email: text().notNull(),
  password: text(),
  disabledAt: timestamp('disabled_at', { withTimezone: true }),
});

/** Takes the arguments of Prisma Client and returns its results. The generator of Prisma Client is not installed here. */
const prismaOn = (db: ReturnType<typeof drizzle>) => ({
  user: {
    findUnique: async ({ where }: { where: { id?: number; email?: string } }) => {
      const condition = where.id === undefined ? eq(users.email, where.email!) : eq(users.id, where.id);
      return (await db.select().from(users).where(condition))[0] ?? null;
    },
    updateMany: async (change: { where: { id: number; password?: string }; data: { password: string } }) => {
      const { id, password } = change.where;
      const found = await db.select().from(users).where(eq(users.id, id));
      if (password !== undefined && found[0]?.password !== password) return { count: 0 };
      return { count: (await db.update(users).set(change.data).where(eq(users.id, id)).returning()).length };
    },
  },
});

describeOn('postgres')('the code in docs/other-orms.md on %s', (name) => {
  /** Returns the application's database with Kysely, Drizzle and the stand-in for Prisma on it. */
  async function applicationDatabase() {
    const database = await databaseForTest(name);
    const { url } = database.options as { url: string };
    const pool = new Pool({ connectionString: url, max: 2 });
    pool.on('error', () => undefined);
    await pool.query(`DROP SCHEMA IF EXISTS auth CASCADE; CREATE SCHEMA auth;
      CREATE TABLE users (id serial PRIMARY KEY, email text NOT NULL UNIQUE, password text, disabled_at timestamptz);
      CREATE TABLE profiles (user_id int NOT NULL, plan text NOT NULL);`);
    closing.push(() => pool.end());
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    const drizzleDb = drizzle({ client: pool });
    const modules = {
      './kysely.js': { db },
      './drizzle.js': { db: drizzleDb, users },
      './prisma.js': { prisma: prismaOn(drizzleDb) },
    };
    return { database, url, db, modules };
  }

  async function startWithEntity() {
    const { url, db, modules } = await applicationDatabase();
    const entity = code('## Add the DataSource');
    const forRoot = (options: object) => TypeOrmModule.forRoot({ ...options, url });
    const own = { './user.entity.js': entity, '@nestjs/typeorm': { TypeOrmModule: { forRoot } } };
    const { AppModule } = code('## Add the DataSource', { modules: own }, 1);
    const { auth, dataSource } = await start([AppModule!]);
    type SignUp = Type<{ create(...of: string[]): Promise<number> }>;
    const { SignUp } = code<{ SignUp: SignUp }>('## Create users with your ORM', { modules });
    return { auth, dataSource, db, modules, id: await new SignUp(auth).create('alice', PASSWORD) };
  }

  it('the library stores its tables in the schema auth, and users whom the ORM creates log in', async () => {
    const { auth, dataSource, db, id } = await startWithEntity();
    const { accessToken } = await login(auth);
    expect(await auth.authenticate(accessToken)).toMatchObject({ userId: id });
    const tables = await dataSource.query<{ schemaname: string; tablename: string }[]>(
      `SELECT * FROM pg_tables WHERE schemaname IN ('auth', 'public')`,
    );
    const inPublic = tables.filter(({ schemaname }) => schemaname === 'public').map(({ tablename }) => tablename);
    expect(inPublic.sort()).toEqual(['profiles', 'users']);
    expect(tables.length).toBeGreaterThan(6);
    await db.updateTable('users').set({ disabled_at: new Date() }).execute();
    expect(await auth.authenticate(accessToken)).toBeNull();
  });

  it('a statement of the ORM and a call to the library are committed together or not at all', async () => {
    const { auth, dataSource, db, modules, id } = await startWithEntity();
    type Downgrade = (auth: AuthService, dataSource: DataSource, id: number) => Promise<void>;
    const { downgrade } = code<{ downgrade: Downgrade }>('## Use transactions', { modules });
    const { accessToken } = await login(auth);
    await db.updateTable('profiles').set({ plan: 'paid' }).execute();
    const paid = () => db.selectFrom('profiles').select('plan').where('plan', '=', 'paid').execute();

    // The user does not exist, so that the library refuses the call.
    await db.insertInto('profiles').values({ user_id: 0, plan: 'paid' }).execute();
    await expect(downgrade(auth, dataSource, 0)).rejects.toMatchObject({ code: 'unknown_user' });
    expect(await paid()).toHaveLength(2);
    expect(await auth.authenticate(accessToken)).toMatchObject({ userId: id });

    await db.deleteFrom('profiles').where('user_id', '=', 0).execute();
    await downgrade(auth, dataSource, id);
    expect(await paid()).toEqual([]);
    expect(await auth.authenticate(accessToken)).toBeNull();
  });

  it.each([
    ['Kysely', 1],
    ['Drizzle', 2],
    ['a stand-in for Prisma', 3],
  ])('the UserStore over %s finds users, and replaces a hash only if it is the expected one', async (_, index) => {
    const { database, db, modules } = await applicationDatabase();
    const queries = code<{ replaceHash(...of: unknown[]): Promise<number> }>(STORE, { modules }, index);
    const { AppUsers } = code<{ AppUsers: Type<UserStore> }>(STORE, { modules: { './user-queries.js': queries } });
    const { auth } = await startForTest(database, storedUsers(AppUsers));
    const password = await auth.hashPassword(PASSWORD);
    await db.insertInto('users').values({ email: 'alice', password }).execute();
    const { accessToken } = await login(auth);
    const principal = (await auth.authenticate(accessToken))!;
    expect(await auth.loadUser(principal)).toEqual({ id: 1, username: 'alice', active: true });
    const unknown = auth.login({ username: 'bob', password: PASSWORD });
    await expect(unknown).rejects.toMatchObject({ code: 'invalid_credentials' });
    const change = { currentPassword: PASSWORD, newPassword: 'a password that is new' };
    const { accessToken: changed } = await auth.changePassword(principal, change);
    expect(await queries.replaceHash(1, 'other', 'not the stored hash')).toBe(0);
    expect(await auth.login({ username: 'alice', password: change.newPassword })).toBeTruthy();
    await db.updateTable('users').set({ disabled_at: new Date() }).execute();
    expect(await auth.authenticate(changed)).toBeNull();
  });
});

describeOn('mysql')('users in another database of the same server, as in docs/other-orms.md, on %s', (name) => {
  it('the library stores its tables in its own database, and users of the other database log in', async () => {
    const [own, other] = [await databaseForTest(name), await databaseForTest(name)];
    const { url } = other.options as { url: string };

    @Entity({ name: 'users', database: new URL(url).pathname.slice(1), synchronize: false })
    class User {
      @PrimaryGeneratedColumn() id!: number;
      @Column({ type: 'varchar', unique: true }) email!: string;
      @Column({ type: 'varchar', nullable: true }) password!: string | null;
    }

    const users = await new DataSource({ type: 'mysql', url }).initialize();
    await users.query(
      'CREATE TABLE users (id int PRIMARY KEY AUTO_INCREMENT, email varchar(255) UNIQUE, password varchar(255))',
    );
    const mapping = { entity: User, username: 'email', passwordHash: 'password' };
    const { auth } = await startForTest(own, mappedUsers(mapping));
    await auth.createUser({ username: 'alice', password: PASSWORD });
    const { accessToken } = await login(auth);
    expect(await auth.authenticate(accessToken)).toMatchObject({ userId: 1 });
    expect((await users.query('SHOW TABLES')).map(Object.values)).toEqual([['users']]);
    await users.destroy();
  });
});
