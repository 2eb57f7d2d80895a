import { DataSource } from 'typeorm';
import { createDatabase, describeOn, type TestDatabase } from '../support/databases';
import { PASSWORD, TestApplication } from '../support/test-application';

const KANJI = '\u65e5\u672c';
const EMOJI = '\u{1f600}';
const INVALID = { status: 400, body: { non_field_errors: ['Invalid credentials.'] } };

/** Logins by name, and what they leave in the history, in a database that cannot store every letter. */
async function check(database: TestDatabase, representable: string, names: readonly string[]): Promise<void> {
  const app = await TestApplication.start({ database, users: ['alice', representable] });
  const login = (username: string, password: string, agent = 'Mozilla/5.0') =>
    app.http.post('/auth/login').set('User-Agent', Buffer.from(agent).toString('latin1')).send({ username, password });
  expect(await login(representable, PASSWORD)).toMatchObject({ status: 200 });
  for (const name of names) expect(await login(name, PASSWORD)).toMatchObject(INVALID);
  const ids: { id: string }[] = await app.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'");
  const userAgent = `Mozilla/5.0 (Linux; Android 10; \u00ff${EMOJI}${KANJI}) Firefox/1.0`;
  const opened = await app.auth.login({ username: 'alice', password: PASSWORD }, { userAgent });
  await app.auth.refresh(opened.refreshToken, { userAgent });
  const session = await app.auth.openSession(
    ids[0]!.id,
    { userAgent },
    { methods: ['pwd'], data: { name: KANJI } as object },
  );
  expect((await app.auth.authenticate(session.accessToken))!.data).toEqual({ name: KANJI });
  const [event] = await app.auth.history(ids[0]!.id);
  expect(event!.userAgent).toMatch(/^Mozilla\/5\.0 \(Linux; .*\) Firefox/);
  for (const name of names) {
    await expect(app.auth.createUser({ username: name, password: PASSWORD })).rejects.toMatchObject({
      code: 'database_unavailable',
    });
  }
  expect(await app.dataSource.query('SELECT username FROM auth_users')).toHaveLength(2);
  await app.close();
}

describeOn('postgres')('a database that is not UTF-8 on %s', (name) => {
  it.each([
    ['LATIN1', 'jos\u00e9', [KANJI, EMOJI, `alice${KANJI}`]],
    ['EUC_JP', KANJI, [EMOJI, `alice${EMOJI}`]],
  ])('%s: a login with a name that it cannot store is refused like an unknown name', async (encoding, ok, names) => {
    const database = await createDatabase(name);
    const { url } = database.options as { url: string };
    const other = new URL(url);
    other.pathname += `_${encoding.toLowerCase()}`;
    const admin = await new DataSource(database.options).initialize();
    const target = other.pathname.slice(1);
    await admin.query(
      `CREATE DATABASE ${target} ENCODING '${encoding}' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'`,
    );
    try {
      await check({ ...database, options: { type: 'postgres', url: other.href } }, ok, names);
    } finally {
      await admin.query(`DROP DATABASE ${target} WITH (FORCE)`);
      await admin.destroy();
      await database.drop();
    }
  });
});

describeOn('mysql')('character sets other than utf8mb4 on %s', (name) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase(name);
  });
  afterEach(() => database.drop());

  it('createUser() with a name that the latin1 connection of the application cannot send leaves no row', async () => {
    const options = { ...database.options, charset: 'latin1' } as TestDatabase['options'];
    const app = await TestApplication.start({ database: { ...database, options }, users: ['jos\u00e9'] });
    for (let i = 0; i < 2; i++) {
      const create = app.auth.createUser({ username: KANJI, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'not_supported' });
    }
    expect(await app.dataSource.query('SELECT username FROM auth_users')).toHaveLength(1);
    await app.login('jos\u00e9');
    await app.close();
  });
});
