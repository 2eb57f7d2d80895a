import {
  ELSEWHERE,
  HOME,
  INVALID_CREDENTIALS,
  NEW_PASSWORD,
  PASSWORD,
  TOO_MANY,
  type At,
  type Json,
} from './environment';

const DAY_SECONDS = 86_400;

/** Attacks of strangers on logins. */
export function lockoutAttacks(at: At): void {
  it('100 wrong passwords from 25 networks lock out neither the owner nor the open session', async () => {
    const env = at();
    const alice = 'alice@lockout.example';
    const id = await env.signUp(alice);
    const laptop = await env.login(alice);
    const thief = await env.login(alice, { from: ELSEWHERE });
    await env.signals('');
    await env.guess(alice, 100, 25);
    const { body: emitted } = await env.get('/driver/signals');
    const of = (name: string) => emitted.filter((signal: Json) => signal.name === name).map((one: Json) => one.payload);
    const ofAccount = { username: alice, ipAddress: expect.any(String), scope: 'account' };
    expect(of('brute_force_threshold_hit')).toEqual([{ ...ofAccount, failureCount: 50 }]);
    expect(of('login_blocked')).toEqual([{ ...ofAccount, userId: id, until: expect.any(String) }]);

    const blocked = { retryAfter: DAY_SECONDS, status: 429, body: TOO_MANY };
    expect(await env.tryLogin(alice, PASSWORD, '192.0.2.200')).toEqual(blocked);
    expect(await env.tryLogin(alice, 'wrong password', '192.0.2.200')).toEqual(blocked);

    const refreshed = await env.refresh(laptop.refresh_token);
    expect(refreshed.status).toBe(200);
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    const changed = await env.post('/auth/password/change/', change, refreshed.body.access_token);
    expect(changed).toEqual({
      status: 200,
      body: { access_token: expect.any(String), refresh_token: expect.any(String), token_type: 'Bearer' },
    });
    await env.expectEnded(thief);
    await env.expectLive(changed.body, alice);
    const [row] = await env.history(changed.body.access_token, '?event=login_blocked');
    expect(row).toMatchObject({ event: 'login_blocked', extra: { scope: 'account', until: expect.any(String) } });

    expect(await env.tryLogin(alice, NEW_PASSWORD, '192.0.2.200')).toEqual(blocked);
    await env.login(alice, { password: NEW_PASSWORD });
    await env.login(alice, { password: NEW_PASSWORD, from: '192.0.2.200' });
  });

  it('9 wrong passwords in 5 minutes from one address start a block that ends after the seconds in Retry-After', async () => {
    const env = at();
    const bob = 'bob@lockout.example';
    await env.signUp(bob);
    await env.login(bob);
    for (let failures = 0; failures < 100; failures += 9) {
      await env.guess(bob, Math.min(9, 100 - failures), 1);
      if (failures < 99) await env.advance(300);
    }
    const blocked = { retryAfter: DAY_SECONDS, status: 429, body: TOO_MANY };
    expect(await env.tryLogin(bob, PASSWORD, ELSEWHERE)).toEqual(blocked);
    await env.advance(DAY_SECONDS - 1);
    expect(await env.tryLogin(bob, PASSWORD, ELSEWHERE)).toEqual({ ...blocked, retryAfter: 1 });
    await env.advance(1);
    await env.login(bob, { from: ELSEWHERE });
  });

  it('a block is the same for a name that does not exist: status, body and remaining seconds', async () => {
    const env = at();
    const [known, unknown] = ['alice@names.example', 'nobody@names.example'];
    await env.signUp(known);
    await env.signals('');
    for (const name of [known, unknown]) await env.guess(name, 100, 25);
    const masked = (await env.signals('login_failed')).filter(({ userId }) => userId === null);
    expect(masked).toHaveLength(100);
    expect(new Set(masked.map(({ username }) => username))).toEqual(new Set([expect.stringMatching(/^no[^a-z]*$/)]));
    for (const seconds of [0, 3_600, DAY_SECONDS - 3_601]) {
      await env.advance(seconds);
      const answers = [];
      for (const name of [known, unknown]) answers.push(await env.tryLogin(name, PASSWORD, ELSEWHERE));
      expect(answers[0]).toMatchObject({ status: 429, body: TOO_MANY });
      expect(answers[1]).toEqual(answers[0]);
    }
    await env.advance(1);
    expect(await env.tryLogin(unknown, PASSWORD, ELSEWHERE)).toEqual(INVALID_CREDENTIALS);
    await env.login(known, { from: ELSEWHERE });
  });

  it('other spellings of a name do not bypass its delays', async () => {
    const env = at();
    const bob = 'bob@spellings.example';
    await env.signUp(bob);
    const spellings = [bob.toUpperCase(), 'Bob@Spellings.Example', 'ｂｏｂ@spellings.example', 'bob@SPELLINGS.example'];
    if (env.users === 'store') {
      // The table finds the user, but the library refuses each spelling as an unknown name, so none needs a delay.
      for (const name of [...spellings, ` ${bob}`, `${bob} `]) {
        expect(await env.tryLogin(name, PASSWORD, ELSEWHERE)).toEqual(INVALID_CREDENTIALS);
      }
      await env.login(bob);
      return;
    }
    for (const email of spellings) {
      const taken = { detail: 'A user with this username already exists.', code: 'username_taken' };
      expect(await env.post('/signup', { email, password: PASSWORD })).toEqual({ status: 409, body: taken });
    }
    for (let failures = 0; failures < 10; failures++) {
      const name = [bob, ...spellings][failures % 5]!;
      expect(await env.tryLogin(name, 'wrong password', ELSEWHERE)).toEqual(INVALID_CREDENTIALS);
    }
    for (const name of [bob, ...spellings]) {
      const delayed = { retryAfter: 30, status: 429, body: TOO_MANY };
      expect(await env.tryLogin(name, PASSWORD, ELSEWHERE)).toEqual(delayed);
    }
    await env.login(spellings[2]!);
  });

  it('names that differ only in characters that look alike are refused at sign-up', async () => {
    for (const sign of ['\u0007', '\u202e', '\u200b']) {
      const { status, body } = await at().post('/signup', { email: `alice${sign}@signs.example`, password: PASSWORD });
      expect({ status, body }).toEqual({ status: 400, body: { username: [expect.any(String)] } });
    }
  });

  it('a flood of random names from one address does not prevent other logins, and refusals leave no rows', async () => {
    const env = at();
    const alice = 'alice@flood.example';
    await env.signUp(alice);
    const { body: before } = await env.get('/driver/rows');
    const flood = Promise.all(
      Array.from({ length: 300 }, (_, index) => env.tryLogin(`random${index}@flood.example`, PASSWORD, ELSEWHERE)),
    );
    for (let logins = 0; logins < 5; logins++) await env.login(alice, { from: `${HOME.slice(0, -1)}${logins}` });
    const answers = await flood;
    const failed = answers.filter(({ status }) => status === 400);
    const refused = answers.filter(({ status }) => status !== 400);
    expect(refused.length).toBeGreaterThan(0);
    expect(failed).toEqual(failed.map(() => INVALID_CREDENTIALS));
    expect(refused).toEqual(
      refused.map(() => ({ retryAfter: expect.any(Number), status: 503, body: { detail: expect.any(String) } })),
    );
    const { body: after } = await env.get('/driver/rows');
    expect(after.failures - before.failures).toBe(2 * failed.length);
    expect(after.events - before.events).toBe(failed.length);
  });
}
