import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AUTH_ENTITIES, AUTH_MIGRATIONS, SessionAdministration } from 'nestjs-session-auth';
import { AbstractLogger, DataSource } from 'typeorm';
import { createDatabase, type DatabaseName, type TestDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';

/** A database as the migrations and the code of the first release wrote it. */
export interface FirstRelease {
  /** The active sessions with their current tokens and a refresh token that was used. */
  readonly sessions: readonly {
    readonly id: string;
    readonly access_token: string;
    readonly refresh_token: string;
    readonly used: string;
  }[];
  /** An API key, a login ticket and a password reset token of a user without a session. */
  readonly key: string;
  readonly ticket: string;
  readonly reset: string;
  /** The SQL that creates the tables and their rows. */
  readonly statements: readonly string[];
}

class DdlLogger extends AbstractLogger {
  readonly statements: string[] = [];

  override logQuery(sql: string): void {
    if (/^(?:CREATE|ALTER) /.test(sql)) this.statements.push(sql);
  }

  protected writeLog(): void {}
}

/** Writes the database of the current code to a file. After the first release, the file never changes. */
export async function freezeFirstRelease(name: DatabaseName, file: string): Promise<void> {
  const database = await createDatabase(name);
  const logger = new DdlLogger(true);
  const options = { ...database.options, entities: [...AUTH_ENTITIES], migrations: [...AUTH_MIGRATIONS] };
  const dataSource = await new DataSource({ ...options, logger }).initialize();
  await dataSource.runMigrations();
  const tokens = await writeRows({ ...database, options: { ...database.options, synchronize: false } });

  const { statements } = logger;
  const tables = dataSource.entityMetadatas.map(({ tablePath }) => tablePath).sort();
  for (const table of [...tables, 'migrations']) {
    const rows = await dataSource.query<Record<string, string | number | boolean | null>[]>(`SELECT * FROM ${table}`);
    if (rows.length === 0) console.warn(`${table} is empty. Add a row in test/upgrade/freeze.ts.`);
    for (const row of rows) {
      const columns = Object.keys(row).filter((column) => !(table === 'migrations' && column === 'id'));
      const names = columns.map((column) => dataSource.driver.escape(column));
      statements.push(
        `INSERT INTO ${table} (${names.join(', ')}) VALUES (${columns.map((column) => literal(row[column] ?? null)).join(', ')})`,
      );
    }
  }
  await dataSource.destroy();
  await database.drop();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...tokens, statements }, null, 2)}\n`);
}

/** Writes at least one row to each table. */
async function writeRows(database: TestDatabase): Promise<Omit<FirstRelease, 'statements'>> {
  const users = ['alice', 'bob', 'carol'];
  const auth = {
    rememberMe: { idleTimeoutSeconds: 30 * 86_400, absoluteTimeoutSeconds: 90 * 86_400 },
    refreshReuseGraceSeconds: 60,
  };
  const app = await TestApplication.start({ database, users, auth });
  const sessions = [];
  for (const username of ['alice', 'alice', 'bob']) {
    const login = { username, password: PASSWORD, remember_me: username === 'bob' };
    const { body: first } = await app.http.post('/auth/login').send(login).expect(200);
    const { body: second } = await app.refresh(first.refresh_token).expect(200);
    const { body: third } = await app.refresh(second.refresh_token).expect(200);
    await app.get('/me', third.access_token).expect(200);
    const { access_token, refresh_token } = third;
    sessions.push({ id: first.session_id, access_token, refresh_token, used: first.refresh_token });
  }
  await app.post('/auth/logout', (await app.login('bob')).access_token).expect(200);
  await app.http.post('/auth/login').send({ username: 'bob', password: 'wrong' }).expect(400);
  const carol = await app.userId('carol');
  const ticket = await app.auth.createLoginTicket(carol, { methods: ['otp'] });
  const { token: reset } = await app.auth.createPasswordResetToken(carol);
  const newKey = { name: 'a script', scopes: ['orders:read'] };
  const { key } = await app.nest.get(SessionAdministration).createApiKey(carol, newKey, { actor: 'alice' });
  await app.close();
  return { sessions, key, ticket, reset };
}

function literal(value: string | number | boolean | null): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return value === null ? 'NULL' : String(value);
}
