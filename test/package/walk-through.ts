import { strict as assert } from 'node:assert';

type Tokens = Record<'access_token' | 'refresh_token' | 'session_id', string>;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

const CREDENTIALS = { username: 'alice', password: 'correct horse battery staple' };
const INVALID_CREDENTIALS = { status: 400, body: { non_field_errors: ['Invalid credentials.'] } };

/** Asserts what each application must do over HTTP, from login to logout. */
export async function walkThrough(url: string, hasDevices: boolean): Promise<void> {
  const get = (path: string, token?: string): Promise<Answer> => send(url, 'GET', path, token);
  const post = (path: string, body?: object, token?: string): Promise<Answer> => send(url, 'POST', path, token, body);
  const login = async (): Promise<Tokens> => {
    const { status, body } = await post('/auth/login/', CREDENTIALS);
    assert.equal(status, 200);
    return body as Tokens;
  };

  assert.equal((await get('/me')).status, 401);
  assert.deepEqual(await post('/auth/login/', { ...CREDENTIALS, password: 'wrong' }), INVALID_CREDENTIALS);
  const laptop = await login();
  const phone = await login();
  const { access_token: token } = laptop;
  const me = { username: 'alice', session_id: laptop.session_id, has_service: true };
  assert.deepEqual(await get('/me', token), { status: 200, body: me });

  const sessions = (await get('/auth/sessions/', token)).body as Record<string, unknown>[];
  assert.deepEqual(new Set(sessions.map(({ id }) => id)), new Set([laptop.session_id, phone.session_id]));
  const current = sessions.find(({ is_current }) => is_current)!;
  assert.equal(current['id'], laptop.session_id);
  assert.equal(current['browser_family'], hasDevices ? 'Chrome' : 'Other');

  const refresh = (): Promise<Answer> => post('/auth/token/refresh/', { refresh_token: laptop.refresh_token });
  const { status, body } = await refresh();
  assert.equal(status, 200);
  const fresh = body as Tokens;
  assert.equal((await get('/me', token)).status, 401);
  assert.equal((await get('/me', fresh.access_token)).status, 200);

  const reused = { status: 400, body: { non_field_errors: ['Invalid or expired refresh token.'] } };
  assert.deepEqual(await refresh(), reused);
  for (const { access_token: ended } of [fresh, phone]) assert.equal((await get('/me', ended)).status, 401);
  const reuses = [{ session_id: laptop.session_id, sessions_ended: 2 }];
  const ends = ['token_reuse', 'token_reuse'];
  assert.deepEqual((await get('/alerts')).body, { reuses, ends });

  const { access_token: last } = await login();
  const loggedOut = { status: 200, body: { detail: 'Logged out successfully.' } };
  assert.deepEqual(await post('/auth/logout/', undefined, last), loggedOut);
  assert.equal((await get('/me', last)).status, 401);
  assert.deepEqual((await get('/alerts')).body, { reuses, ends: [...ends, 'logout'] });
}

async function send(url: string, method: string, path: string, token?: string, body?: object): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      'User-Agent': CHROME,
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(20_000),
  });
  // Under Jest, objects from `response.json()` have the prototypes of another realm.
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}
