import { PasswordHasher, type AuthModuleOptions } from 'nestjs-session-auth';
import { Host, PASSWORD } from '../support/host';
import {
  historyOf,
  INVALID_CREDENTIALS,
  postJson,
  sendRaw,
  setActive,
  storiesOnBothPlatforms,
  UUID,
  type Stage,
} from './stories';

/** A hash that costs nothing and tells how often it was asked. */
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

function attempt(host: Host, username: string, password: string) {
  return postJson(host, '/auth/login/', JSON.stringify({ username, password }));
}

storiesOnBothPlatforms('a login', {}, (at: Stage) => {
  it('gives two opaque strings, the id of the session and the type Bearer, and nothing else', async () => {
    const { status, body } = await at.host.http.post('/auth/login/').send({ username: 'alice', password: PASSWORD });
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]{48,}$/),
      session_id: expect.stringMatching(UUID),
      token_type: 'Bearer',
    });
    expect(body.access_token).not.toBe(body.refresh_token);
    const me = await at.host.get('/me', body.access_token).expect(200);
    expect(me.body).toMatchObject({ username: 'alice', session_id: body.session_id });
  });

  it('returns new tokens and a new session each time', async () => {
    const answers = [await at.host.login(), await at.host.login(), await at.host.login('bob')];
    const strings = answers.flatMap((one) => [one.access_token, one.refresh_token, one.session_id]);
    expect(new Set(strings).size).toBe(strings.length);
  });

  it('ignores fields that it does not know', async () => {
    const extra = { id: 1, session_id: 'x', username_key: 'bob', active: false, keep_current: 'x', nested: { a: [] } };
    await at.host.http
      .post('/auth/login/')
      .send({ username: 'alice', password: PASSWORD, ...extra })
      .expect(200);
  });

  it('is recorded when it is good and when it fails, and told', async () => {
    const { host } = at;
    await attempt(host, 'alice', 'wrong');
    await attempt(host, 'alice', 'wrong');
    const { access_token: token, session_id: id } = await host.login();
    expect((await historyOf(host, token)).map(({ event, extra }) => [event, extra])).toEqual([
      ['login_success', {}],
      ['login_failure', { username: 'alice', failure_count: 2 }],
      ['login_failure', { username: 'alice', failure_count: 1 }],
    ]);
    expect(host.sent('login_failed').map(({ username, failureCount }) => [username, failureCount])).toEqual([
      ['alice', 1],
      ['alice', 2],
    ]);
    expect(host.sent('user_logged_in').map(({ session }) => session.id)).toEqual([id]);
  });

  it('fails with the same bytes for an unknown user, a wrong password and a disabled user', async () => {
    const { host } = at;
    const wrong = await attempt(host, 'alice', 'wrong');
    expect([wrong.status, JSON.parse(wrong.body)]).toEqual([400, INVALID_CREDENTIALS]);
    expect(wrong.headers['cache-control']).toBe('no-store');
    expect((await attempt(host, 'carol', PASSWORD)).bytes).toBe(wrong.bytes);
    await setActive(host, 'bob', false);
    expect((await attempt(host, 'bob', PASSWORD)).bytes).toBe(wrong.bytes);
    expect((await attempt(host, 'bob', 'wrong')).bytes).toBe(wrong.bytes);
    await setActive(host, 'bob', true);
    await host.login('bob');
  });

  it('fails alike for a user without a password', async () => {
    await at.host.auth.createUser({ username: 'carol-sso', password: null });
    const wrong = await attempt(at.host, 'alice', 'wrong');
    for (const password of ['wrong', 'null', 'a password that nobody has']) {
      expect((await attempt(at.host, 'carol-sso', password)).bytes).toBe(wrong.bytes);
    }
  });

  it('of a disabled user belongs to that history, and one for an unknown name is stored masked, without a user', async () => {
    const { host } = at;
    await setActive(host, 'bob', false);
    await attempt(host, 'bob', PASSWORD);
    await setActive(host, 'bob', true);
    await attempt(host, 'my secret', 'wrong');
    const { access_token: token } = await host.login('bob');
    expect((await historyOf(host, token)).map(({ event }) => event)).toEqual(['login_success', 'login_failure']);
    const rows: { extra: unknown }[] = await host.dataSource.query(
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
  ])('compares names byte by byte: %j is not alice', async (username) => {
    const answer = await attempt(at.host, username, PASSWORD);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_CREDENTIALS]);
  });

  it('keeps apart users whose names differ in a byte only', async () => {
    const { host } = at;
    const names = ['Carol', 'carol', 'carol ', 'car\u00f6l', 'caro\u0308l', '\u{1f600}'.repeat(255)];
    for (const username of names)
      await host.auth.createUser(
        { username, password: `${PASSWORD} of ${username.slice(0, 6)}` },
        { skipPolicy: true },
      );
    for (const username of names) {
      const { access_token: token } = await host.login(username, `${PASSWORD} of ${username.slice(0, 6)}`);
      expect((await host.get('/me', token)).body.username).toBe(username);
    }
  });

  it('compares passwords as sent: no trimming, no folding, no normalisation', async () => {
    const { host } = at;
    const password = ' P\u00e4ss w\u00f6rd ';
    await host.auth.createUser({ username: 'carol-spaces', password }, { skipPolicy: true });
    for (const other of [password.trim(), password.toLowerCase(), password.normalize('NFD'), `${password} `]) {
      expect((await attempt(host, 'carol-spaces', other)).status).toBe(400);
    }
    await host.login('carol-spaces', password);
  });

  it('accepts a password of 72 bytes, and refuses the same password with one more byte', async () => {
    const { host } = at;
    await host.auth.createUser({ username: 'carol-72', password: 'a'.repeat(72) }, { skipPolicy: true });
    await host.auth.createUser({ username: 'carol-utf8', password: '\u00e9'.repeat(36) }, { skipPolicy: true });
    await host.login('carol-72', 'a'.repeat(72));
    await host.login('carol-utf8', '\u00e9'.repeat(36));
    const wrong = await attempt(host, 'alice', 'wrong');
    expect((await attempt(host, 'carol-72', 'a'.repeat(73))).bytes).toBe(wrong.bytes);
    expect((await attempt(host, 'carol-72', 'a'.repeat(71))).bytes).toBe(wrong.bytes);
    expect((await attempt(host, 'carol-utf8', '\u00e9'.repeat(37))).bytes).toBe(wrong.bytes);
    expect((await attempt(host, 'carol-72', 'a'.repeat(4096))).bytes).toBe(wrong.bytes);
    expect((await attempt(host, 'carol', '\u00e9'.repeat(2048))).bytes).toBe(wrong.bytes);
  });

  it.each([
    ['of 4,097 bytes', 'a'.repeat(4097)],
    ['of 4,098 bytes in 2,049 characters', '\u00e9'.repeat(2049)],
    ['of 90 kB', 'a'.repeat(90_000)],
  ])('with a password %s is a field error and is not counted as a failure', async (_, password) => {
    const answer = await attempt(at.host, 'alice', password);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { password: ['Ensure this field has no more than 4096 characters.'] },
    ]);
    expect(at.host.sent('login_failed')).toEqual([]);
  });

  it.each([
    ['256 characters', 'a'.repeat(256)],
    ['256 emoji', '\u{1f600}'.repeat(256)],
    ['90 kB', 'a'.repeat(90_000)],
  ])('with a name of %s is a field error', async (_, username) => {
    const answer = await attempt(at.host, username, PASSWORD);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { username: ['Ensure this field has no more than 255 characters.'] },
    ]);
  });

  it.each([
    ['255 characters', 'a'.repeat(255)],
    ['255 emoji', '\u{1f600}'.repeat(255)],
    ['one space', ' '],
  ])('with an unknown name of %s is an ordinary failure', async (_, username) => {
    const answer = await attempt(at.host, username, 'wrong');
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, INVALID_CREDENTIALS]);
  });

  it.each([
    ['two bytes that are in no character', '\xff\xfe'],
    ['Latin-1', 'Zo\xeb'],
    ['the beginning of a character', 'ab\xe2\x82'],
    ['half a surrogate pair', '\xed\xa0\x80'],
    ['an overlong slash', '\xc0\xaf'],
    ['the replacement character', '\xef\xbf\xbd'],
  ])('refuses names and passwords with ill-formed UTF-8: %s', async (_, bytes) => {
    const body = `{"username":"${bytes}","password":"${bytes}"}`;
    const head = ['POST /auth/login/ HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`];
    const answer = await sendRaw(at.host, head, body);
    const problem = ['Not a valid string.'];
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { username: problem, password: problem }]);
    expect(await at.host.dataSource.query('SELECT id FROM auth_events')).toEqual([]);
  });

  it.each(['a\\u0000b', '\\ud800', '\\udc00', 'a\\udfff\\ud800b', '\\ufffd'])(
    'takes no name and no password with %s in it',
    async (text) => {
      const answer = await postJson(at.host, '/auth/login/', `{"username":"${text}","password":"${text}"}`);
      expect([answer.status, JSON.parse(answer.body)]).toEqual([
        400,
        { username: ['Not a valid string.'], password: ['Not a valid string.'] },
      ]);
    },
  );
});

storiesOnBothPlatforms('the work of a login', { auth: { passwordHasher: new CountingHasher() } }, (at: Stage) => {
  it('is one verification for every outcome', async () => {
    const { host } = at;
    const hasher = host.app.get<PasswordHasher, CountingHasher>(PasswordHasher);
    await host.auth.createUser({ username: 'carol', password: null });
    await setActive(host, 'bob', false);
    const worked = async (username: string, password: string): Promise<[number, number]> => {
      const before = hasher.verified;
      const { status } = await attempt(host, username, password);
      return [status, hasher.verified - before];
    };
    expect(await worked('alice', PASSWORD)).toEqual([200, 1]);
    expect(await worked('alice', 'wrong')).toEqual([400, 1]);
    expect(await worked('nobody', 'wrong')).toEqual([400, 1]);
    expect(await worked('bob', PASSWORD)).toEqual([400, 1]);
    expect(await worked('carol', 'wrong')).toEqual([400, 1]);
    expect(await worked('alice', 'a'.repeat(73))).toEqual([400, 1]);
    expect(await worked('alice', 'a'.repeat(4096))).toEqual([400, 1]);
    expect(await worked('alice', 'a'.repeat(4097))).toEqual([400, 0]);
  });
});

storiesOnBothPlatforms('a login without regard to case', { auth: { nameMatching: 'insensitive' } }, (at: Stage) => {
  it.each(['alice', 'Alice', 'ALICE', '\uff21\uff2c\uff29\uff23\uff25'])('takes %j for alice', async (username) => {
    const { access_token: token } = await at.host.login(username);
    expect((await at.host.get('/me', token)).body.username).toBe('alice');
  });

  it('trims nothing', async () => {
    expect((await attempt(at.host, 'alice ', PASSWORD)).status).toBe(400);
  });

  it('counts the failures of one user together, however the name is written', async () => {
    const { host } = at;
    for (const username of ['alice', 'Alice', 'ALICE', '\uff41lice']) await attempt(host, username, 'wrong');
    expect(host.sent('login_failed').map(({ failureCount }) => failureCount)).toEqual([1, 2, 3, 4]);
    await host.login('aLiCe');
    await attempt(host, 'alice', 'wrong');
    expect(host.sent('login_failed').at(-1)!.failureCount).toBe(1);
  });

  it.each(['ALICE', '\uff41\uff4c\uff49\uff43\uff45'])(
    'refuses to create the user %j when alice exists',
    async (username) => {
      const create = at.host.auth.createUser({ username, password: PASSWORD });
      await expect(create).rejects.toMatchObject({ code: 'username_taken' });
    },
  );

  it('creates one of two users whose names differ in case and width, in parallel too', async () => {
    for (const [first, second] of [
      ['carol', 'CAROL'],
      ['dave', '\uff44\uff41\uff56\uff45'],
    ]) {
      const both = [first!, second!].map((username) => at.host.auth.createUser({ username, password: PASSWORD }));
      const refused = (await Promise.allSettled(both)).filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([{ reason: { code: 'username_taken' } }]);
      await at.host.login(second);
    }
  });
});

const BUSY: AuthModuleOptions = { hashing: { concurrent: 1, waiting: 0 } };

storiesOnBothPlatforms('a login while too many are being verified', { auth: BUSY }, (at: Stage) => {
  it('is answered 503 with a time to come back, and counts as no failure', async () => {
    const { host } = at;
    const hasher = host.app.get(PasswordHasher);
    const verify = hasher.verify.bind(hasher);
    let finish!: () => void;
    const busy = new Promise<void>((started) => {
      hasher.verify = async (...args) => {
        started();
        await new Promise<void>((resolve) => (finish = resolve));
        return verify(...args);
      };
    });
    const first = attempt(host, 'alice', PASSWORD);
    await busy;
    const refused = await Promise.all(Array.from({ length: 8 }, () => attempt(host, 'alice', PASSWORD)));
    finish();
    hasher.verify = verify;
    expect((await first).status).toBe(200);
    for (const answer of refused) {
      expect([answer.status, JSON.parse(answer.body)]).toEqual([503, { detail: expect.any(String) }]);
      expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      expect(answer.headers['cache-control']).toBe('no-store');
    }
    expect(host.sent('login_failed')).toEqual([]);
  });
});
