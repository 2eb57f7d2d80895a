import { fullWidth, SPELLINGS } from '../support/spellings';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { INVALID_CREDENTIALS, postJson, sendRaw, describeEverywhere } from '../support/environment';

async function attemptAt(app: TestApplication, username: string, password = PASSWORD) {
  const answer = await postJson(app, '/auth/login/', JSON.stringify({ username, password }));
  return { ...answer, body: JSON.parse(answer.body) as object };
}

describeEverywhere('logins', {}, ({ app }) => {
  const attempt = (username: string, password?: string) => attemptAt(app, username, password);

  it('each login returns new tokens and a new session', async () => {
    const answers = [await app.login(), await app.login(), await app.login('bob')];
    const strings = answers.flatMap((one) => [one.access_token, one.refresh_token, one.session_id]);
    expect(new Set(strings).size).toBe(strings.length);
  });

  it.each([undefined, null])('missing credentials (%s) are refused by the name of the missing field', async (body) => {
    const missing = body as never;
    const principal = await app.principal((await app.login()).access_token);
    for (const [field, call] of [
      ['username', () => app.auth.login(missing)],
      ['username', () => app.auth.verifyCredentials(missing)],
      ['username', () => app.auth.createUser(missing)],
      ['current_password', () => app.auth.changePassword(principal, missing)],
    ] as const) {
      await expect(call()).rejects.toMatchObject({
        code: 'invalid_field',
        fields: { [field]: [expect.any(String)] },
      });
    }
  });

  it("a login of a disabled user is in that user's history", async () => {
    await app.setActive('bob', false);
    await attempt('bob');
    await app.setActive('bob', true);
    expect(await app.events((await app.login('bob')).access_token)).toEqual(['login_success', 'login_failure']);
  });

  it('a login compares names byte by byte, so that no other spelling of alice is alice', async () => {
    const similar = ['alice\t', 'alice\u200b', 'alice\u0301', fullWidth('alice'), 'al\u0131ce', ' alice'];
    const sql = ['al%', 'alic_', '%', "alice' --", 'alice\\'];
    for (const username of [...SPELLINGS.filter((one) => one !== 'alice'), ...similar, ...sql]) {
      const { status, body } = await attempt(username);
      expect([username, status, body]).toEqual([username, 400, INVALID_CREDENTIALS]);
    }
  });

  it('a login distinguishes users whose names differ only in case, a trailing space, an accent or its Unicode form', async () => {
    const names = ['Carol', 'carol', 'carol ', 'car\u00f6l', 'caro\u0308l', '\u{1f600}'.repeat(255)];
    const passwordOf = (username: string): string => `${PASSWORD} of ${username.slice(0, 6)}`;
    for (const username of names) {
      await app.auth.createUser({ username, password: passwordOf(username) }, { skipPolicy: true });
    }
    for (const username of names) {
      const { access_token: token } = await app.login(username, passwordOf(username));
      expect((await app.get('/me', token)).body.username).toBe(username);
    }
  });

  it('a login compares the password as sent, without trimming, case folding or normalization', async () => {
    const password = ' P\u00e4ss w\u00f6rd ';
    await app.auth.createUser({ username: 'carol-spaces', password }, { skipPolicy: true });
    for (const other of [password.trim(), password.toLowerCase(), password.normalize('NFD'), `${password} `]) {
      expect((await attempt('carol-spaces', other)).status).toBe(400);
    }
    await app.login('carol-spaces', password);
  });

  it('a login accepts a password of 72 bytes, and refuses the same password with one more byte', async () => {
    const wrong = await attempt('alice', 'wrong');
    for (const [username, letter, length] of [
      ['carol-72', 'a', 72],
      ['carol-utf8', '\u00e9', 36],
    ] as const) {
      await app.auth.createUser({ username, password: letter.repeat(length) }, { skipPolicy: true });
      await app.login(username, letter.repeat(length));
      for (const other of [length + 1, length - 1, length * 2]) {
        expect((await attempt(username, letter.repeat(other))).bytes).toBe(wrong.bytes);
      }
    }
    expect((await attempt('carol', '\u00e9'.repeat(2048))).bytes).toBe(wrong.bytes);
  });

  it('a login with a password of more than 4,096 bytes fails with a field error and does not count as a failure', async () => {
    const problem = { password: ['This password is too long. It may have at most 4096 bytes.'] };
    for (const password of ['a'.repeat(4097), '\u00e9'.repeat(2049), 'a'.repeat(90_000)]) {
      expect(await attempt('alice', password)).toMatchObject({ status: 400, body: problem });
    }
    expect(app.sent('login_failed')).toEqual([]);
  });

  it('a login with a name of more than 255 characters fails with a field error', async () => {
    const problem = { username: ['Ensure this field has no more than 255 characters.'] };
    for (const letter of ['a', '\u{1f600}']) {
      expect(await attempt(letter.repeat(255))).toMatchObject({ status: 400, body: INVALID_CREDENTIALS });
      expect(await attempt(letter.repeat(256))).toMatchObject({ status: 400, body: problem });
    }
  });

  it.each([
    ['two bytes that occur in no character', '\xff\xfe'],
    ['Latin-1', 'Zo\xeb'],
    ['the beginning of a character', 'ab\xe2\x82'],
    ['half a surrogate pair', '\xed\xa0\x80'],
    ['an overlong slash', '\xc0\xaf'],
    ['the replacement character', '\xef\xbf\xbd'],
    ['a NUL', 'a\\u0000b'],
    ['escaped surrogates', 'a\\udfff\\ud800b'],
    ['an escaped replacement character', '\\ufffd'],
  ])('a login refuses names and passwords in malformed UTF-8 or with U+FFFD: %s', async (_, bytes) => {
    const body = `{"username":"${bytes}","password":"${bytes}"}`;
    const head = ['POST /auth/login/ HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await sendRaw(app, head, body);
    const problem = ['Not a valid string.'];
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { username: problem, password: problem }]);
    expect(await app.dataSource.query('SELECT id FROM auth_events')).toEqual([]);
  });
});

const INSENSITIVE = { auth: { nameMatching: 'insensitive' } } as const;

describeEverywhere('logins with nameMatching: insensitive', INSENSITIVE, ({ app }) => {
  const attempt = (username: string, password?: string) => attemptAt(app, username, password);

  it('a login finds alice in every spelling, and no second user with another spelling is created', async () => {
    for (const username of ['ALICE', fullWidth('alice')]) {
      const { access_token: token } = await app.login(username);
      expect((await app.get('/me', token)).body.username).toBe('alice');
      const create = app.auth.createUser({ username, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'username_taken' });
    }
    expect((await attempt('alice ', PASSWORD)).status).toBe(400);
  });

  it('failures of one user are counted together, however the name is written', async () => {
    for (const username of ['alice', 'Alice', 'ALICE', '\uff41lice']) await attempt(username, 'wrong');
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4]);
    await app.login('aLiCe');
    await attempt('alice', 'wrong');
    expect(app.sent('login_failed').at(-1)!.failureCount).toBe(1);
  });
});
