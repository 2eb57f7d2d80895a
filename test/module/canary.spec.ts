import { QueryFailedError } from 'typeorm';
import type { Test } from 'supertest';
import { PASSWORD, type TestApplication } from '../support/test-application';
import { Tap } from '../support/tap';
import { createKey } from '../support/api-keys';
import { actAsBob, DrivenImpersonationPolicy } from '../support/impersonation';
import { describeOnEachDatabase } from '../support/environment';

/** Records the secrets of a flow, and the places that may contain each secret. */
class Canaries {
  private readonly responses: { readonly name: string; readonly text: string }[] = [];
  readonly secrets = new Map<string, { readonly name: string; readonly allowed: Set<string> }>();

  /** Adds a secret that only the given places may contain. */
  watch(name: string, secret: string, ...allowed: string[]): string {
    const watched = this.secrets.get(secret) ?? { name, allowed: new Set() };
    for (const place of allowed) watched.allowed.add(place);
    this.secrets.set(secret, watched);
    return secret;
  }

  /** Keeps a complete response, including its headers, and adds the tokens in its body. */
  async keep(name: string, request: Test): Promise<Record<string, string>> {
    const response = await request;
    const body = response.body as Record<string, string>;
    this.responses.push({ name, text: `${JSON.stringify(response.headers)} ${response.text}` });
    if (body['access_token']) this.watchToken(name, body['access_token'], { secret: [16, 48] });
    if (body['refresh_token']) {
      this.watchToken(name, body['refresh_token'], { 'family secret': [16, 32], secret: [36, 69] });
    }
    return body;
  }

  /** Returns the secrets that occur outside of their allowed places. */
  async leaks(app: TestApplication): Promise<string[]> {
    const rows = await Promise.all(
      app.dataSource.entityMetadatas.map(({ tableName }) => app.dataSource.query(`SELECT * FROM ${tableName}`)),
    );
    const places = [
      ...this.responses,
      { name: 'the tables', text: JSON.stringify(rows) },
      { name: 'the signals', text: JSON.stringify(app.signals) },
      { name: 'the logs', text: app.logs.join('\n') },
    ];
    const found: string[] = [];
    for (const [secret, { name, allowed }] of this.secrets) {
      for (const place of places) {
        if (!allowed.has(place.name) && place.text.includes(secret)) found.push(`${name} is in ${place.name}`);
      }
    }
    return found;
  }

  /** Adds a token, and its secret parts as they appear in the token and in common encodings. */
  watchToken(response: string, token: string, parts: Record<string, readonly [from: number, to: number]>): void {
    this.watch(`${response}: ${token.slice(0, 5)}`, token, response);
    const [text] = /(?<=^.{5}).+(?=.{6}$)/.exec(token)!;
    const payload = Buffer.from(text, 'base64url');
    for (const [part, [from, to]] of Object.entries(parts)) {
      const name = `${response}: ${part} of ${token.slice(0, 5)}`;
      const bytes = payload.subarray(from, to);
      // Base64 encodes three bytes as four characters. All tokens of a family contain the family secret.
      this.watch(name, text.slice(Math.ceil(from / 3) * 4, Math.floor(to / 3) * 4), response);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        this.watch(`${name} in ${encoding}`, bytes.toString(encoding).replaceAll('=', ''));
      }
      this.watch(`${name} in bytes`, bytes.join(','));
    }
  }
}

const impersonationPolicy = new DrivenImpersonationPolicy();
const options = { auth: { refreshReuseGraceSeconds: 10, endpoints: { reauthenticate: true }, impersonationPolicy } };

describeOnEachDatabase('secrets', options, ({ app }) => {
  it('a secret appears only in the response that issues it, in every flow and after every failure', async () => {
    const canaries = new Canaries();
    canaries.watch('the password', PASSWORD);
    const wrong = canaries.watch('a wrong password', 'canary wrong password');
    const next = canaries.watch('a new password', 'canary new password');
    const credentials = (username: string, password: string): object => ({ username, password });
    const login = await canaries.keep('login', app.http.post('/auth/login').send(credentials('alice', PASSWORD)));
    await canaries.keep('wrong', app.http.post('/auth/login').send(credentials('alice', wrong)));
    await canaries.keep('unknown', app.http.post('/auth/login').send(credentials('mallory', wrong)));
    const typed = canaries.watch('a password typed as a name', 'canary typed as a name');
    await canaries.keep('typed', app.http.post('/auth/login').send(credentials(typed, wrong)));
    const pair = await canaries.keep('refresh', app.refresh(login['refresh_token']!));
    const token = pair['access_token']!;
    const [{ replay_seed: seed }] = await app.dataSource.query('SELECT replay_seed FROM auth_sessions');
    canaries.watch('the seed of a replay', seed, 'the tables');
    expect(await canaries.keep('replay', app.refresh(login['refresh_token']!))).toEqual(pair);
    await canaries.keep('bad token', app.get('/auth/sessions', `${token}x`));
    await canaries.keep('bad refresh', app.refresh(`${pair['refresh_token']!}x`));
    await canaries.keep('field', app.http.post('/auth/login').send({ username: [wrong], password: { wrong } }));
    await canaries.keep('broken', app.http.post('/auth/login').type('json').send(`{"password":"${wrong}"`));
    await canaries.keep('wrong reauthentication', app.post('/auth/reauthenticate', token, { password: wrong }));
    const confirm = app.post('/auth/reauthenticate', token, { password: PASSWORD });
    const confirmed = (await canaries.keep('reauthentication', confirm))['access_token']!;
    const change = { current_password: PASSWORD, new_password: next };
    const changed = await canaries.keep('change', app.post('/auth/password/change', confirmed, change));
    expect(changed).toHaveProperty('access_token');
    await canaries.keep('sessions', app.get('/auth/sessions', changed['access_token']!));
    await canaries.keep('history', app.get('/auth/history', changed['access_token']!));
    await canaries.keep('me', app.get('/me', changed['access_token']!));
    const [{ user_id: userId }] = await app.dataSource.query('SELECT user_id FROM auth_sessions');
    const reset = await app.auth.createPasswordResetToken(userId);
    canaries.watch('a reset token', reset.token);
    await app.auth.redeemPasswordResetToken(reset.token, PASSWORD);
    await expect(app.auth.redeemPasswordResetToken(reset.token, next)).rejects.not.toThrow(reset.token);
    const ticket = await app.auth.createLoginTicket(userId, { methods: ['pwd'] });
    canaries.watch('a login ticket', ticket);
    expect(await app.auth.attempt({ ticket, method: 'otp' }, {}, () => true)).toBe(true);
    const [{ key }, { accessToken }] = [await createKey(app), await actAsBob(app)];
    for (const secret of [key, accessToken]) {
      canaries.watchToken('no response', secret, { secret: [16, 48] });
      await canaries.keep('use', app.get('/me', secret));
      await canaries.keep('bad use', app.get('/me', `${secret}x`));
    }
    const again = await canaries.keep('login again', app.http.post('/auth/login').send(credentials('alice', PASSWORD)));
    let latest = again;
    for (const name of ['second refresh', 'third refresh']) {
      latest = await canaries.keep(name, app.refresh(latest['refresh_token']!));
    }
    await canaries.keep('reuse', app.refresh(again['refresh_token']!));
    expect(app.sent('token_reuse_detected')).toHaveLength(1);
    await failAtEveryStatement(app, canaries, wrong, key);
    expect(canaries.secrets.size).toBeGreaterThan(50);
    expect(await canaries.leaks(app)).toEqual([]);
  });

  it('the search for secrets finds a value that is stored in plain text', async () => {
    const canaries = new Canaries();
    canaries.watch('a name', 'alice');
    expect(await canaries.leaks(app)).toEqual(['a name is in the tables']);
  });
});

/** Makes every statement fail with an error that contains its SQL and parameters, as errors of an ORM do. */
async function failAtEveryStatement(app: TestApplication, canaries: Canaries, wrong: string, key: string) {
  const session = await app.login();
  canaries.watch('a token in a failure', session.access_token);
  const tap = new Tap(app);
  tap.hook.before = ({ sql, params }) => {
    if (sql) throw new QueryFailedError(sql, params, new Error(`canary ${wrong} ${session.access_token}`));
  };
  for (const request of [
    () => app.http.post('/auth/login').send({ username: 'alice', password: wrong }),
    () => app.get('/auth/sessions', session.access_token),
    () => app.get('/me', key),
    () => app.refresh(session.refresh_token),
  ]) {
    await canaries.keep('failure', request());
  }
  tap.hook = {};
  expect(app.logs.some((line) => line.includes('The database failed'))).toBe(true);
  expect(app.logs.join('\n')).not.toMatch(/SELECT|INSERT|UPDATE|auth_/);
}

describeOnEachDatabase('log lines', {}, ({ app, tap }) => {
  it('a client cannot forge a line of the log', async () => {
    const forged = 'alice\r\n[Nest] LOG \u001b[31mforged\u2028again';
    await app.http.post('/auth/login').set('User-Agent', 'x\u009b31m').send({ username: forged, password: 'wrong' });
    await app.delete('/auth/sessions/%0d%0aforged', 'nsaa_forged').expect(401);
    await app.http.post('/auth/login').type('json').send('{"forged\u2028');
    tap.fail(Object.assign(new Error(forged), { code: forged, name: forged }));
    await app.http.post('/auth/login').send({ username: forged, password: 'wrong' }).expect(503);
    tap.hook = {};
    const written = app.logs.join('');
    // eslint-disable-next-line no-control-regex -- matches the control characters that must not occur
    expect(written).not.toMatch(/[\u0000-\u001f\u2028\u2029]/);
    const [row] = await app.dataSource.query('SELECT user_agent, extra FROM auth_events');
    expect(row.user_agent).not.toMatch(/\p{Cc}/u);
  });
});
