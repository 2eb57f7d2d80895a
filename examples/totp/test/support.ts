import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import { AuthService, PasswordHasher } from 'nestjs-session-auth';
import { CheapPasswordHasher } from 'nestjs-session-auth/testing';
import assert from 'node:assert/strict';
import { after, before, beforeEach, mock } from 'node:test';
import { generate } from 'otplib';

process.env['DATABASE'] = ':memory:';
const { AppModule } = await import('../src/app.module.js');

export const STEP_MS = 30_000;
export const PASSWORD = 'correct horse battery staple';

/** The fields of response bodies that the tests read. */
interface Body {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly access_token: string;
  readonly login_ticket: string;
  readonly uri: string;
  readonly qrCode: string;
  readonly recoveryCodes: string[];
  readonly code: string;
  readonly non_field_errors: string[];
  readonly length: number;
}
export interface Answer {
  readonly status: number;
  readonly body: Body;
  readonly cookie: string;
  readonly retryAfter: string | null;
  readonly cacheControl: string | null;
}
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export let app: INestApplication;
let origin: string;

before(async () => {
  const testing = Test.createTestingModule({ imports: [AppModule] });
  const compiled = await testing.overrideProvider(PasswordHasher).useClass(CheapPasswordHasher).compile();
  app = compiled.createNestApplication();
  await app.listen(0, '127.0.0.1');
  origin = await app.getUrl();
  // The library, otplib and the example read the time only from `Date`. TypeORM must start with the real `Date`.
  mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 15, 10) });
});
after(() => app.close());

async function send(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = { method, headers: { 'Content-Type': 'application/json', ...headers } };
  const response = await fetch(origin + path, body === undefined ? init : { ...init, body: JSON.stringify(body) });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? ({} as Body) : (JSON.parse(text) as Body),
    cookie: response.headers.getSetCookie().join(', '),
    retryAfter: response.headers.get('retry-after'),
    cacheControl: response.headers.get('cache-control'),
  };
}
export const post = (path: string, body?: object, token?: string): Promise<Answer> =>
  send('POST', path, body, token === undefined ? {} : { Authorization: `Bearer ${token}` });
export const get = (path: string, token: string): Promise<Answer> =>
  send('GET', path, undefined, { Authorization: `Bearer ${token}` });
export const login = (username: string, device = '', password = PASSWORD): Promise<Answer> =>
  send('POST', '/login', { username, password }, { Cookie: device });
export const withCode = (ticket: string, code: unknown, trust = false): Promise<Answer> =>
  post('/login/code', { ticket, code, trust });

/** Returns the name and value of the device cookie, as a browser sends them. */
export const deviceOf = ({ cookie }: Answer): string => /__Host-device=[^;]+/.exec(cookie)?.[0] ?? '';
export const secretOf = (uri: string): string => new URL(uri).searchParams.get('secret')!;
export const wrongCode = async (secret: string): Promise<string> => {
  const right = new Set(await Promise.all([-1, 0, 1].map((step) => codeOf(secret, step))));
  return ['111111', '222222', '333333', '444444'].find((code) => !right.has(code))!;
};
/** Returns the code of the current time step, or of the time step that is `step` steps later. */
export const codeOf = (secret: string, step = 0): Promise<string> =>
  generate({ secret, epoch: Math.floor(new Date().getTime() / 1000) + step * 30 });
export const nextStep = (): void => mock.timers.tick(STEP_MS);

export async function ticketOf(username: string, device = ''): Promise<string> {
  const { status, body } = await login(username, device);
  assert.deepEqual([status, body.code], [403, 'second_factor_required']);
  return body.login_ticket;
}

/** Enables the second factor, and advances the clock so that the next code is unused. */
export async function enable(username: string): Promise<{ secret: string; tokens: Tokens; recoveryCodes: string[] }> {
  const { body: session } = await login(username);
  const { body: enrollment } = await post('/second-factor/enroll', {}, session.accessToken);
  const secret = secretOf(enrollment.uri);
  const code = await codeOf(secret);
  const { status, body } = await post('/second-factor/confirm', { code }, session.accessToken);
  assert.equal(status, 200);
  nextStep();
  return { secret, tokens: body as Tokens, recoveryCodes: body.recoveryCodes };
}

/** Logs in with a code, and marks the device as trusted. */
export async function trust(username: string, secret: string): Promise<Answer> {
  const answer = await withCode(await ticketOf(username), await codeOf(secret), true);
  assert.equal(answer.status, 200);
  nextStep();
  return answer;
}

/** The name of a user who is created for each test, and a name that no user has. */
export let username: string;
export let stranger: string;
let users = 0;
beforeEach(async () => {
  username = `alice${(users += 1)}`;
  stranger = `bob${users}`;
  await app.get(AuthService).createUser({ username, password: PASSWORD });
});
