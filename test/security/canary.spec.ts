import { QueryFailedError } from 'typeorm';
import type { Test } from 'supertest';
import { PASSWORD, type Host } from '../support/host';
import { Tap } from '../support/tap';
import { stories, type Stage } from '../e2e/stories';

/** Every secret that a flow has used, and the places that may hold it. */
class Canaries {
  private readonly responses: { readonly name: string; readonly text: string }[] = [];
  private readonly secrets = new Map<string, { readonly name: string; readonly allowed: Set<string> }>();

  /** A secret that only these places may hold. */
  watch(name: string, secret: string, ...allowed: string[]): string {
    const watched = this.secrets.get(secret) ?? { name, allowed: new Set() };
    for (const place of allowed) watched.allowed.add(place);
    this.secrets.set(secret, watched);
    return secret;
  }

  /** Keeps a whole response, headers included, and watches the tokens in it. */
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

  /** The places that hold a secret and must not. */
  async leaks(host: Host): Promise<string[]> {
    const rows = await Promise.all(
      host.dataSource.entityMetadatas.map(({ tableName }) => host.dataSource.query(`SELECT * FROM ${tableName}`)),
    );
    const places = [
      ...this.responses,
      { name: 'the tables', text: JSON.stringify(rows) },
      { name: 'the signals', text: JSON.stringify(host.signals) },
      { name: 'the logs', text: host.logs.join('\n') },
    ];
    const found: string[] = [];
    for (const [secret, { name, allowed }] of this.secrets) {
      for (const place of places) {
        if (!allowed.has(place.name) && place.text.includes(secret)) found.push(`${name} is in ${place.name}`);
      }
    }
    return found;
  }

  get count(): number {
    return this.secrets.size;
  }

  /** The token, and each of its secret parts as it is in the token and in the usual encodings. */
  private watchToken(
    response: string,
    token: string,
    parts: Record<string, readonly [from: number, to: number]>,
  ): void {
    this.watch(`${response}: ${token.slice(0, 5)}`, token, response);
    const [text] = /(?<=^.{5}).+(?=.{6}$)/.exec(token)!;
    const payload = Buffer.from(text, 'base64url');
    for (const [part, [from, to]] of Object.entries(parts)) {
      const name = `${response}: ${part} of ${token.slice(0, 5)}`;
      const bytes = payload.subarray(from, to);
      // Three bytes are four characters. All tokens of a family contain its secret.
      this.watch(name, text.slice(Math.ceil(from / 3) * 4, Math.floor(to / 3) * 4), response);
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        this.watch(`${name} in ${encoding}`, bytes.toString(encoding).replaceAll('=', ''));
      }
      this.watch(`${name} in bytes`, bytes.join(','));
    }
  }
}

const options = { auth: { refreshReuseGraceSeconds: 10, recentLogin: { endpoint: true } } };

stories('a secret', options, (at: Stage) => {
  it('is in the response that issues it and nowhere else, through every flow and every failure', async () => {
    const { host } = at;
    const canaries = new Canaries();
    canaries.watch('the password', PASSWORD);
    const wrong = canaries.watch('a wrong password', 'canary wrong password');
    const next = canaries.watch('a new password', 'canary new password');
    const credentials = (username: string, password: string): object => ({ username, password });
    const login = await canaries.keep('login', host.http.post('/auth/login').send(credentials('alice', PASSWORD)));
    await canaries.keep('wrong', host.http.post('/auth/login').send(credentials('alice', wrong)));
    await canaries.keep('unknown', host.http.post('/auth/login').send(credentials('mallory', wrong)));
    const typed = canaries.watch('a password typed as a name', 'canary typed as a name');
    await canaries.keep('typed', host.http.post('/auth/login').send(credentials(typed, wrong)));
    const pair = await canaries.keep('refresh', host.refresh(login['refresh_token']!));
    const token = pair['access_token']!;
    const [{ replay_seed: seed }] = await host.dataSource.query('SELECT replay_seed FROM auth_sessions');
    canaries.watch('the seed of a replay', seed, 'the tables');
    expect(await canaries.keep('replay', host.refresh(login['refresh_token']!))).toEqual(pair);
    await canaries.keep('bad token', host.get('/auth/sessions', `${token}x`));
    await canaries.keep('bad refresh', host.refresh(`${pair['refresh_token']!}x`));
    await canaries.keep('field', host.http.post('/auth/login').send({ username: [wrong], password: { wrong } }));
    await canaries.keep('broken', host.http.post('/auth/login').type('json').send(`{"password":"${wrong}"`));
    await canaries.keep('wrong reauthentication', host.post('/auth/reauthenticate', token, { password: wrong }));
    const confirm = host.post('/auth/reauthenticate', token, { password: PASSWORD });
    const confirmed = (await canaries.keep('reauthentication', confirm))['access_token']!;
    const change = { current_password: PASSWORD, new_password: next };
    const changed = await canaries.keep('change', host.post('/auth/password/change', confirmed, change));
    expect(changed).toHaveProperty('access_token');
    await canaries.keep('sessions', host.get('/auth/sessions', changed['access_token']!));
    await canaries.keep('history', host.get('/auth/history', changed['access_token']!));
    await canaries.keep('me', host.get('/me', changed['access_token']!));
    const [{ user_id: userId }] = await host.dataSource.query('SELECT user_id FROM auth_sessions');
    const reset = await host.auth.createPasswordResetToken(userId);
    canaries.watch('a reset token', reset.token);
    await host.auth.redeemPasswordResetToken(reset.token, PASSWORD);
    await expect(host.auth.redeemPasswordResetToken(reset.token, next)).rejects.not.toThrow(reset.token);
    const again = await canaries.keep(
      'login again',
      host.http.post('/auth/login').send(credentials('alice', PASSWORD)),
    );
    let latest = again;
    for (const name of ['second refresh', 'third refresh']) {
      latest = await canaries.keep(name, host.refresh(latest['refresh_token']!));
    }
    await canaries.keep('reuse', host.refresh(again['refresh_token']!));
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    await failAtEveryStatement(host, canaries, wrong);
    expect(canaries.count).toBeGreaterThan(50);
    expect(await canaries.leaks(host)).toEqual([]);
  });

  it('that is stored in plain text is found by the search', async () => {
    const { host } = at;
    const canaries = new Canaries();
    canaries.watch('a name', 'alice');
    expect(await canaries.leaks(host)).toEqual(['a name is in the tables']);
  });
});

/** Errors of an ORM contain the statement and its parameters. */
async function failAtEveryStatement(host: Host, canaries: Canaries, wrong: string): Promise<void> {
  const session = await host.login();
  canaries.watch('a token in a failure', session.access_token);
  const tap = new Tap(host);
  for (const request of [
    () => host.http.post('/auth/login').send({ username: 'alice', password: wrong }),
    () => host.get('/auth/sessions', session.access_token),
    () => host.refresh(session.refresh_token),
  ]) {
    tap.hook = {
      before: ({ sql, params }) => {
        if (sql) throw new QueryFailedError(sql, params, new Error(`canary ${wrong} ${session.access_token}`));
      },
    };
    await canaries.keep('failure', request());
    tap.hook = {};
  }
  expect(host.logs.some((line) => line.includes('The database failed'))).toBe(true);
  expect(host.logs.join('\n')).not.toMatch(/SELECT|INSERT|UPDATE|auth_/);
}

stories('a line of the log', {}, (at: Stage) => {
  it('cannot be forged by what a client sends', async () => {
    const { host } = at;
    const forged = 'alice\r\n[Nest] LOG \u001b[31mforged\u2028again';
    await host.http.post('/auth/login').set('User-Agent', 'x\u009b31m').send({ username: forged, password: 'wrong' });
    await host.delete('/auth/sessions/%0d%0aforged', 'nsaa_forged').expect(401);
    await host.http.post('/auth/login').type('json').send('{"forged\u2028');
    const tap = new Tap(host);
    tap.hook = {
      before: ({ kind }) => {
        if (kind === 'statement') throw Object.assign(new Error(forged), { code: forged, name: forged });
      },
    };
    await host.http.post('/auth/login').send({ username: forged, password: 'wrong' }).expect(503);
    tap.hook = {};
    const written = host.logs.join('');
    // eslint-disable-next-line no-control-regex -- these are what must not be there
    expect(written).not.toMatch(/[\u0000-\u001f\u2028\u2029]/);
    const [row] = await host.dataSource.query('SELECT user_agent, extra FROM auth_events');
    expect(row.user_agent).not.toMatch(/\p{Cc}/u);
  });
});
