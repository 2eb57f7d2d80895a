import { PasswordHasher, type AuthModuleOptions } from 'nestjs-session-auth';
import { TestApplication, PASSWORD } from '../support/test-application';
import {
  historyOf,
  INVALID_CREDENTIALS,
  postJson,
  sendRaw,
  setActive,
  describeOnBothPlatforms,
  UUID,
  type TestEnvironment,
} from '../support/environment';

/** A hasher that costs nothing and counts verifications. */
class CountingHasher extends PasswordHasher {
  readonly maxPasswordBytes = 72;
  verified = 0;

  async hash(password: string): Promise<string> {
    return `plain:${password}`;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    this.verified++;
    return hash === `plain:${password}`;
  }

  accepts(hash: string): boolean {
    return hash.startsWith('plain:');
  }

  needsRehash(): boolean {
    return false;
  }
}

function attempt(app: TestApplication, username: string, password: string) {
  return postJson(app, '/auth/login/', JSON.stringify({ username, password }));
}

describeOnBothPlatforms('logins', {}, (env: TestEnvironment) => {
  it('a login returns two opaque tokens, the id of the session and the type Bearer, and nothing else', async () => {
    const { status, body } = await env.app.http.post('/auth/login/').send({ username: 'alice', password: PASSWORD });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      session_id: expect.stringMatching(UUID),
      token_type: 'Bearer',
    });
    expect(body.access_token).not.toBe(body.refresh_token);
    const me = await env.app.get('/me', body.access_token).expect(200);
    expect(me.body).toMatchObject({ username: 'alice', session_id: body.session_id });
  });

  it('each login returns new tokens and a new session', async () => {
    const answers = [await env.app.login(), await env.app.login(), await env.app.login('bob')];
    const strings = answers.flatMap((one) => [one.access_token, one.refresh_token, one.session_id]);
    expect(new Set(strings).size).toBe(strings.length);
  });

  it('a login ignores unknown fields', async () => {
    const extra = { id: 1, session_id: 'x', username_key: 'bob', active: false, keep_current: 'x', nested: { a: [] } };
    await env.app.http
      .post('/auth/login/')
      .send({ username: 'alice', password: PASSWORD, ...extra })
      .expect(200);
  });

  it('a login is recorded and emitted when it succeeds and when it fails', async () => {
    const { app } = env;
    await attempt(app, 'alice', 'wrong');
    await attempt(app, 'alice', 'wrong');
    const { access_token: token, session_id: id } = await app.login();
    expect((await historyOf(app, token)).map(({ event, extra }) => [event, extra])).toEqual([
      ['login_success', {}],
      ['login_failure', { username: 'alice', failure_count: 2 }],
      ['login_failure', { username: 'alice', failure_count: 1 }],
    ]);
    expect(app.sent('login_failed').map(({ username, failureCount }) => [username, failureCount])).toEqual([
      ['alice', 1],
      ['alice', 2],
    ]);
    expect(app.sent('user_logged_in').map(({ session }) => session.id)).toEqual([id]);
  });

  it('logins with an unknown user, a wrong password and a disabled user receive byte-identical responses', async () => {
    const { app } = env;
    const wrong = await attempt(app, 'alice', 'wrong');
    expect([wrong.status, JSON.parse(wrong.body)]).toEqual([400, INVALID_CREDENTIALS]);
    expect(wrong.headers['cache-control']).toBe('no-store');
    expect((await attempt(app, 'carol', PASSWORD)).bytes).toBe(wrong.bytes);
    await setActive(app, 'bob', false);
    expect((await attempt(app, 'bob', PASSWORD)).bytes).toBe(wrong.bytes);
    expect((await attempt(app, 'bob', 'wrong')).bytes).toBe(wrong.bytes);
    await setActive(app, 'bob', true);
    await app.login('bob');
  });

  it('a login of a user without a password receives the same response as a login with a wrong password', async () => {
    await env.app.auth.createUser({ username: 'carol-sso', password: null });
    const wrong = await attempt(env.app, 'alice', 'wrong');
    for (const password of ['wrong', 'null', 'a password that nobody has']) {
      expect((await attempt(env.app, 'carol-sso', password)).bytes).toBe(wrong.bytes);
    }
  });

  it("a login of a disabled user is in that user's history, and a login with an unknown name is stored without a user and with a masked name", async () => {
    const { app } = env;
    await setActive(app, 'bob', false);
    await attempt(app, 'bob', PASSWORD);
    await setActive(app, 'bob', true);
    await attempt(app, 'my secret', 'wrong');
    const { access_token: token } = await app.login('bob');
    expect((await historyOf(app, token)).map(({ event }) => event)).toEqual(['login_success', 'login_failure']);
    const rows: { extra: unknown }[] = await app.dataSource.query(
      'SELECT extra FROM auth_events WHERE user_id IS NULL',
    );
    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows[0]!.extra);
    expect(text).not.toContain('secret');
    expect(text).toMatch(/my\*+/);
  });

  it.each([
    'Alice',
    'ALICE',
    'alicE',
    'alice ',
    ' alice',
    'alice\t',
    'alice\u200b',
    'alic\u00e9',
    'alice\u0301',
    '\uff41lice',
    'al\u0131ce',
    'al%',
    'alic_',
    '%',
    "alice' --",
    'alice\\',
  ])('a login compares names byte by byte, so that %j is not alice', async (username) => {
    const answer = await attempt(env.app, username, PASSWORD);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_CREDENTIALS]);
  });

  it('a login distinguishes users whose names differ only in case, a trailing space, an accent or its Unicode form', async () => {
    const { app } = env;
    const names = ['Carol', 'carol', 'carol ', 'car\u00f6l', 'caro\u0308l', '\u{1f600}'.repeat(255)];
    for (const username of names)
      await app.auth.createUser({ username, password: `${PASSWORD} of ${username.slice(0, 6)}` }, { skipPolicy: true });
    for (const username of names) {
      const { access_token: token } = await app.login(username, `${PASSWORD} of ${username.slice(0, 6)}`);
      expect((await app.get('/me', token)).body.username).toBe(username);
    }
  });

  it('a login compares the password as sent, without trimming, case folding or normalization', async () => {
    const { app } = env;
    const password = ' P\u00e4ss w\u00f6rd ';
    await app.auth.createUser({ username: 'carol-spaces', password }, { skipPolicy: true });
    for (const other of [password.trim(), password.toLowerCase(), password.normalize('NFD'), `${password} `]) {
      expect((await attempt(app, 'carol-spaces', other)).status).toBe(400);
    }
    await app.login('carol-spaces', password);
  });

  it('a login accepts a password of 72 bytes, and refuses the same password with one more byte', async () => {
    const { app } = env;
    await app.auth.createUser({ username: 'carol-72', password: 'a'.repeat(72) }, { skipPolicy: true });
    await app.auth.createUser({ username: 'carol-utf8', password: '\u00e9'.repeat(36) }, { skipPolicy: true });
    await app.login('carol-72', 'a'.repeat(72));
    await app.login('carol-utf8', '\u00e9'.repeat(36));
    const wrong = await attempt(app, 'alice', 'wrong');
    expect((await attempt(app, 'carol-72', 'a'.repeat(73))).bytes).toBe(wrong.bytes);
    expect((await attempt(app, 'carol-72', 'a'.repeat(71))).bytes).toBe(wrong.bytes);
    expect((await attempt(app, 'carol-utf8', '\u00e9'.repeat(37))).bytes).toBe(wrong.bytes);
    expect((await attempt(app, 'carol-72', 'a'.repeat(4096))).bytes).toBe(wrong.bytes);
    expect((await attempt(app, 'carol', '\u00e9'.repeat(2048))).bytes).toBe(wrong.bytes);
  });

  it.each([
    ['of 4,097 bytes', 'a'.repeat(4097)],
    ['of 4,098 bytes in 2,049 characters', '\u00e9'.repeat(2049)],
    ['of 90 kB', 'a'.repeat(90_000)],
  ])('a login with a password %s fails with a field error and does not count as a failure', async (_, password) => {
    const answer = await attempt(env.app, 'alice', password);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { password: ['This password is too long. It may have at most 4096 bytes.'] },
    ]);
    expect(env.app.sent('login_failed')).toEqual([]);
  });

  it.each([
    ['256 characters', 'a'.repeat(256)],
    ['256 emoji', '\u{1f600}'.repeat(256)],
    ['90 kB', 'a'.repeat(90_000)],
  ])('a login with a name of %s fails with a field error', async (_, username) => {
    const answer = await attempt(env.app, username, PASSWORD);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { username: ['Ensure this field has no more than 255 characters.'] },
    ]);
  });

  it.each([
    ['255 characters', 'a'.repeat(255)],
    ['255 emoji', '\u{1f600}'.repeat(255)],
    ['one space', ' '],
  ])('a login with an unknown name of %s fails like a login with a wrong password', async (_, username) => {
    const answer = await attempt(env.app, username, 'wrong');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_CREDENTIALS]);
  });

  it.each([
    ['two bytes that occur in no character', '\xff\xfe'],
    ['Latin-1', 'Zo\xeb'],
    ['the beginning of a character', 'ab\xe2\x82'],
    ['half a surrogate pair', '\xed\xa0\x80'],
    ['an overlong slash', '\xc0\xaf'],
    ['the replacement character', '\xef\xbf\xbd'],
  ])('a login refuses names and passwords in malformed UTF-8 or with U+FFFD: %s', async (_, bytes) => {
    const body = `{"username":"${bytes}","password":"${bytes}"}`;
    const head = ['POST /auth/login/ HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await sendRaw(env.app, head, body);
    const problem = ['Not a valid string.'];
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { username: problem, password: problem }]);
    expect(await env.app.dataSource.query('SELECT id FROM auth_events')).toEqual([]);
  });

  it.each(['a\\u0000b', '\\ud800', '\\udc00', 'a\\udfff\\ud800b', '\\ufffd'])(
    'a login refuses names and passwords that contain %s',
    async (text) => {
      const answer = await postJson(env.app, '/auth/login/', `{"username":"${text}","password":"${text}"}`);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        { username: ['Not a valid string.'], password: ['Not a valid string.'] },
      ]);
    },
  );
});

describeOnBothPlatforms(
  'the work of a login',
  { auth: { passwordHasher: new CountingHasher() } },
  (env: TestEnvironment) => {
    it('a login verifies exactly one hash, whatever its outcome, unless a field is invalid', async () => {
      const { app } = env;
      const hasher = app.nest.get<PasswordHasher, CountingHasher>(PasswordHasher);
      await app.auth.createUser({ username: 'carol', password: null });
      await setActive(app, 'bob', false);
      const statusAndVerifications = async (username: string, password: string): Promise<[number, number]> => {
        const before = hasher.verified;
        const { status } = await attempt(app, username, password);
        return [status, hasher.verified - before];
      };
      expect(await statusAndVerifications('alice', PASSWORD)).toEqual([200, 1]);
      expect(await statusAndVerifications('alice', 'wrong')).toEqual([400, 1]);
      expect(await statusAndVerifications('nobody', 'wrong')).toEqual([400, 1]);
      expect(await statusAndVerifications('bob', PASSWORD)).toEqual([400, 1]);
      expect(await statusAndVerifications('carol', 'wrong')).toEqual([400, 1]);
      expect(await statusAndVerifications('alice', 'a'.repeat(73))).toEqual([400, 1]);
      expect(await statusAndVerifications('alice', 'a'.repeat(4096))).toEqual([400, 1]);
      expect(await statusAndVerifications('alice', 'a'.repeat(4097))).toEqual([400, 0]);
    });
  },
);

describeOnBothPlatforms(
  'logins with nameMatching: insensitive',
  { auth: { nameMatching: 'insensitive' } },
  (env: TestEnvironment) => {
    it.each(['alice', 'Alice', 'ALICE', '\uff21\uff2c\uff29\uff23\uff25'])(
      'a login as %j finds alice',
      async (username) => {
        const { access_token: token } = await env.app.login(username);
        expect((await env.app.get('/me', token)).body.username).toBe('alice');
      },
    );

    it('a login does not trim names', async () => {
      expect((await attempt(env.app, 'alice ', PASSWORD)).status).toBe(400);
    });

    it('failures of one user are counted together, however the name is written', async () => {
      const { app } = env;
      for (const username of ['alice', 'Alice', 'ALICE', '\uff41lice']) await attempt(app, username, 'wrong');
      expect(app.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4]);
      await app.login('aLiCe');
      await attempt(app, 'alice', 'wrong');
      expect(app.sent('login_failed').at(-1)!.failureCount).toBe(1);
    });

    it.each(['ALICE', '\uff41\uff4c\uff49\uff43\uff45'])(
      'the user %j cannot be created when alice exists',
      async (username) => {
        const create = env.app.auth.createUser({ username, password: PASSWORD });
        await expect(create).rejects.toMatchObject({ code: 'username_taken' });
      },
    );

    it('only one of two users whose names differ only in case or width is created, even in parallel', async () => {
      for (const [first, second] of [
        ['carol', 'CAROL'],
        ['dave', '\uff44\uff41\uff56\uff45'],
      ]) {
        const both = [first!, second!].map((username) => env.app.auth.createUser({ username, password: PASSWORD }));
        const refused = (await Promise.allSettled(both)).filter(({ status }) => status === 'rejected');
        expect(refused).toMatchObject([{ reason: { code: 'username_taken' } }]);
        await env.app.login(second);
      }
    });
  },
);

const BUSY: AuthModuleOptions = { hashing: { concurrent: 1, waiting: 1 } };

describeOnBothPlatforms('logins while the hashing queue is full', { auth: BUSY }, (env: TestEnvironment) => {
  it('a login fails with 503 and Retry-After while the hashing queue is full, and does not count as a failure', async () => {
    const { app } = env;
    const hasher = app.nest.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    let finish!: () => void;
    const busy = new Promise<void>((started) => {
      hasher.verify = async (...args) => {
        started();
        await new Promise<void>((resolve) => (finish = resolve));
        return verify(...args);
      };
    });
    const first = attempt(app, 'alice', PASSWORD);
    await busy;
    const refused = await Promise.all(Array.from({ length: 8 }, () => attempt(app, 'alice', PASSWORD)));
    finish();
    hasher.verify = verify;
    expect((await first).status).toBe(200);
    for (const answer of refused) {
      expect([answer.status, JSON.parse(answer.body)]).toEqual([503, { detail: expect.any(String) }]);
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    expect(app.sent('login_failed')).toEqual([]);
  });
});
