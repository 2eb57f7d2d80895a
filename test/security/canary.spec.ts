import { QueryFailedError } from 'typeorm';
import type { Test } from 'supertest';
import { PASSWORD, type Host } from '../support/host';
import { Tap } from '../support/tap';
import { stories, type Stage } from '../e2e/stories';

/** Every secret that a flow has seen, and the one answer that may hold it. */
class Canaries {
  private readonly answers: { readonly name: string; readonly text: string }[] = [];
  private readonly secrets = new Map<string, { readonly secret: string; readonly mayBeIn: string | null }>();

  /** A secret that only this answer may hold; none if that is null. */
  watch(name: string, secret: string, mayBeIn: string | null): string {
    this.secrets.set(name, { secret, mayBeIn });
    return secret;
  }

  /** Keeps all of an answer, headers too, and watches the tokens in it. */
  async keep(name: string, request: Test): Promise<Record<string, string>> {
    const answer = await request;
    this.answers.push({ name, text: `${JSON.stringify(answer.headers)} ${answer.text}` });
    for (const [field, value] of Object.entries(answer.body as Record<string, string>)) {
      if (/^(access|refresh)_token$/.test(field) && typeof value === 'string')
        this.watch(`${name}: ${field}`, value, name);
    }
    return answer.body as Record<string, string>;
  }

  /** Where a secret was found that it should not be in. */
  async leaks(host: Host): Promise<string[]> {
    const rows = await Promise.all(
      host.dataSource.entityMetadatas.map(({ tableName }) => host.dataSource.query(`SELECT * FROM ${tableName}`)),
    );
    const places = [
      ...this.answers,
      { name: 'the tables', text: JSON.stringify(rows) },
      { name: 'the signals', text: JSON.stringify(host.signals) },
      { name: 'the logs', text: host.logs.join('\n') },
    ];
    const found: string[] = [];
    for (const [name, { secret, mayBeIn }] of this.secrets) {
      for (const place of places) {
        if (place.name !== mayBeIn && place.text.includes(secret)) found.push(`${name} is in ${place.name}`);
      }
    }
    return found;
  }

  get count(): number {
    return this.secrets.size;
  }
}

const options = { auth: { refreshReuseGraceSeconds: 10, recentLogin: { endpoint: true } } };

stories('a secret', options, (at: Stage) => {
  it('is in the answer that gives it and nowhere else, through every flow and every failure', async () => {
    const { host } = at;
    const canaries = new Canaries();
    canaries.watch('the password', PASSWORD, null);
    const wrong = canaries.watch('a wrong password', 'canary wrong password', null);
    const next = canaries.watch('a new password', 'canary new password', null);
    const credentials = (username: string, password: string): object => ({ username, password });
    const login = await canaries.keep('login', host.http.post('/auth/login').send(credentials('alice', PASSWORD)));
    await canaries.keep('wrong', host.http.post('/auth/login').send(credentials('alice', wrong)));
    await canaries.keep('unknown', host.http.post('/auth/login').send(credentials('mallory', wrong)));
    // A listener may need the name; what is stored and logged does not.
    const typed = canaries.watch('a password typed as a name', 'canary typed as a name', 'the signals');
    await canaries.keep('typed', host.http.post('/auth/login').send(credentials(typed, wrong)));
    const pair = await canaries.keep('refresh', host.refresh(login['refresh_token']!));
    const token = pair['access_token']!;
    await canaries.keep('bad token', host.get('/auth/sessions', `${token}x`));
    await canaries.keep('bad refresh', host.refresh(`${pair['refresh_token']!}x`));
    await canaries.keep('field', host.http.post('/auth/login').send({ username: [wrong], password: { wrong } }));
    await canaries.keep('broken', host.http.post('/auth/login').type('json').send(`{"password":"${wrong}"`));
    await canaries.keep('again', host.post('/auth/reauthenticate', token, { password: PASSWORD }));
    await canaries.keep('again wrong', host.post('/auth/reauthenticate', token, { password: wrong }));
    const change = { current_password: PASSWORD, new_password: next };
    const changed = await canaries.keep('change', host.post('/auth/password/change', token, change));
    await canaries.keep('sessions', host.get('/auth/sessions', changed['access_token']!));
    await canaries.keep('history', host.get('/auth/history', changed['access_token']!));
    await canaries.keep('me', host.get('/me', changed['access_token']!));
    const [{ user_id: userId }] = await host.dataSource.query('SELECT user_id FROM auth_sessions');
    const reset = await host.auth.createPasswordResetToken(userId);
    canaries.watch('a reset token', reset.token, null);
    await host.auth.redeemPasswordResetToken(reset.token, PASSWORD);
    await expect(host.auth.redeemPasswordResetToken(reset.token, next)).rejects.not.toThrow(reset.token);
    await canaries.keep('reuse', host.refresh(login['refresh_token']!));
    await failAtEveryStatement(host, canaries, wrong);
    expect(canaries.count).toBeGreaterThan(9);
    expect(await canaries.leaks(host)).toEqual([]);
  });

  it('is found where it is planted: the search can fail', async () => {
    const { host } = at;
    const canaries = new Canaries();
    canaries.watch('a name', 'alice', null);
    expect(await canaries.leaks(host)).toEqual(['a name is in the tables']);
  });
});

/** What an ORM's error holds: the statement and its parameters. */
async function failAtEveryStatement(host: Host, canaries: Canaries, wrong: string): Promise<void> {
  const session = await host.login();
  canaries.watch('a token in a failure', session.access_token, null);
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
