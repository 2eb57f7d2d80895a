import type { AuthError } from 'nestjs-session-auth';
import { fullWidth, SPELLINGS } from '../support/spellings';
import { type TestApplication, PASSWORD } from '../support/test-application';
import { INVALID_CREDENTIALS, postJson, sendRaw, describeEverywhere, UUID } from '../support/environment';

function attempt(app: TestApplication, username: string, password: string) {
  return postJson(app, '/auth/login/', JSON.stringify({ username, password }));
}

describeEverywhere('logins', {}, ({ app }) => {
  it('a login returns two opaque tokens, the id of the session and the type Bearer, and nothing else', async () => {
    const { status, body } = await app.http.post('/auth/login/').send({ username: 'alice', password: PASSWORD });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      session_id: expect.stringMatching(UUID),
      token_type: 'Bearer',
    });
    expect(body.access_token).not.toBe(body.refresh_token);
    const me = await app.get('/me', body.access_token).expect(200);
    expect(me.body).toMatchObject({ username: 'alice', session_id: body.session_id });
  });

  it('each login returns new tokens and a new session', async () => {
    const answers = [await app.login(), await app.login(), await app.login('bob')];
    const strings = answers.flatMap((one) => [one.access_token, one.refresh_token, one.session_id]);
    expect(new Set(strings).size).toBe(strings.length);
  });

  it.each([undefined, null])(
    'missing credentials are refused with the names of the missing fields: %s',
    async (body) => {
      const missing = body as never;
      const principal = (await app.auth.authenticate((await app.login()).access_token))!;
      for (const [field, call] of [
        ['username', () => app.auth.login(missing)],
        ['username', () => app.auth.verifyCredentials(missing)],
        ['username', () => app.auth.createUser(missing)],
        ['current_password', () => app.auth.changePassword(principal, missing)],
      ] as const) {
        const error = (await call().catch((thrown: unknown) => thrown)) as AuthError;
        expect([error.code, error.getResponse()]).toEqual(['invalid_field', { [field]: [expect.any(String)] }]);
      }
    },
  );

  it('a login ignores unknown fields', async () => {
    const extra = { id: 1, session_id: 'x', username_key: 'bob', active: false, keep_current: 'x', nested: { a: [] } };
    const body = { username: 'alice', password: PASSWORD, ...extra };
    await app.http.post('/auth/login/').send(body).expect(200);
  });

  it('logins with an unknown user, a wrong password and a disabled user receive byte-identical responses', async () => {
    const wrong = await attempt(app, 'alice', 'wrong');
    expect([wrong.status, JSON.parse(wrong.body)]).toEqual([400, INVALID_CREDENTIALS]);
    expect(wrong.headers['cache-control']).toBe('no-store');
    await app.setActive('bob', false);
    for (const [name, password] of [
      ['carol', PASSWORD],
      ['bob', PASSWORD],
      ['bob', 'wrong'],
    ] as const) {
      expect((await attempt(app, name, password)).bytes).toBe(wrong.bytes);
    }
    await app.setActive('bob', true);
    await app.login('bob');
  });

  it("a login of a disabled user is in that user's history, and a login with an unknown name is stored without a user and with a masked name", async () => {
    await app.setActive('bob', false);
    await attempt(app, 'bob', PASSWORD);
    await app.setActive('bob', true);
    await attempt(app, 'my secret', 'wrong');
    const { access_token: token } = await app.login('bob');
    expect((await app.history(token)).map(({ event }) => event)).toEqual(['login_success', 'login_failure']);
    const rows = await app.dataSource.query('SELECT extra FROM auth_events WHERE user_id IS NULL');
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).toMatch(/my\*+/);
    expect(JSON.stringify(rows)).not.toContain('secret');
  });

  it('a login compares names byte by byte, so that no other spelling of alice is alice', async () => {
    const similar = ['alice\t', 'alice\u200b', 'alice\u0301', fullWidth('alice'), 'al\u0131ce', ' alice'];
    const sql = ['al%', 'alic_', '%', "alice' --", 'alice\\'];
    for (const username of [...SPELLINGS.filter((one) => one !== 'alice'), ...similar, ...sql]) {
      const answer = await attempt(app, username, PASSWORD);
      expect([username, answer.status, JSON.parse(answer.body)]).toEqual([username, 400, INVALID_CREDENTIALS]);
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
      expect((await attempt(app, 'carol-spaces', other)).status).toBe(400);
    }
    await app.login('carol-spaces', password);
  });

  it('a login accepts a password of 72 bytes, and refuses the same password with one more byte', async () => {
    const wrong = await attempt(app, 'alice', 'wrong');
    for (const [username, letter, length] of [
      ['carol-72', 'a', 72],
      ['carol-utf8', '\u00e9', 36],
    ] as const) {
      await app.auth.createUser({ username, password: letter.repeat(length) }, { skipPolicy: true });
      await app.login(username, letter.repeat(length));
      for (const other of [length + 1, length - 1, length * 2]) {
        expect((await attempt(app, username, letter.repeat(other))).bytes).toBe(wrong.bytes);
      }
    }
    expect((await attempt(app, 'carol', '\u00e9'.repeat(2048))).bytes).toBe(wrong.bytes);
  });

  it('a login with a password of more than 4,096 bytes fails with a field error and does not count as a failure', async () => {
    for (const password of ['a'.repeat(4097), '\u00e9'.repeat(2049), 'a'.repeat(90_000)]) {
      const { status, body } = await attempt(app, 'alice', password);
      const problem = 'This password is too long. It may have at most 4096 bytes.';
      expect([status, JSON.parse(body)]).toEqual([400, { password: [problem] }]);
    }
    expect(app.sent('login_failed')).toEqual([]);
  });

  it('a login with a name of more than 255 characters fails with a field error', async () => {
    const problem = { username: ['Ensure this field has no more than 255 characters.'] };
    for (const letter of ['a', '\u{1f600}']) {
      const longest = await attempt(app, letter.repeat(255), PASSWORD);
      expect([longest.status, JSON.parse(longest.body)]).toEqual([400, INVALID_CREDENTIALS]);
      const tooLong = await attempt(app, letter.repeat(256), PASSWORD);
      expect([tooLong.status, JSON.parse(tooLong.body)]).toEqual([400, problem]);
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
  it('a login finds alice in every spelling, and no second user with another spelling is created', async () => {
    for (const username of ['ALICE', fullWidth('alice')]) {
      const { access_token: token } = await app.login(username);
      expect((await app.get('/me', token)).body.username).toBe('alice');
      const create = app.auth.createUser({ username, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'username_taken' });
    }
    expect((await attempt(app, 'alice ', PASSWORD)).status).toBe(400);
  });

  it('failures of one user are counted together, however the name is written', async () => {
    for (const username of ['alice', 'Alice', 'ALICE', '\uff41lice']) await attempt(app, username, 'wrong');
    expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4]);
    await app.login('aLiCe');
    await attempt(app, 'alice', 'wrong');
    expect(app.sent('login_failed').at(-1)!.failureCount).toBe(1);
  });
});
