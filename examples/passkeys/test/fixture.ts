import { AuthService, AuthUser } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { after, beforeEach, mock } from 'node:test';
import { EntityManager } from 'typeorm';
import { startApplication } from './application.js';
import { Authenticator, type Deviation } from './authenticator.js';
import { Client, type Outcome } from './client.js';

export const password = 'correct horse battery staple';
export const MINUTE_MS = 60_000;

const { app, origin } = await startApplication();
const { Passkey, Passkeys } = await import('../src/passkeys.service.js');
// From here on, only `mock.timers.tick` advances the clock of the library and of the example.
mock.timers.enable({ apis: ['Date'], now: new Date() });

const auth = app.get(AuthService);
const database = app.get(EntityManager);
const bob = await auth.createUser({ username: 'bob', password });
const passkeys = app.get(Passkeys);
export { auth, bob, database, origin, Passkey, passkeys };

beforeEach(() => database.clear(Passkey));
after(() => app.close());

/** Returns a client with a password session. Opens the session directly, which is faster than a login. */
export async function signedIn(username = 'alice'): Promise<Client> {
  const client = new Client(origin);
  const { id } = await database.findOneByOrFail(AuthUser, { username });
  const { accessToken } = await auth.openSession(id, {}, { methods: ['pwd'] });
  client.cookies.set('auth_access', accessToken);
  return client;
}

/** Registers a passkey for a user. Returns the passkey and a client that is signed in with the password. */
export async function enrolled(
  username = 'alice',
  deviation: Deviation = {},
): Promise<{ client: Client; passkey: Authenticator }> {
  const client = await signedIn(username);
  const passkey = new Authenticator(origin);
  assert.equal((await client.register(passkey, deviation)).status, 201);
  return { client, passkey };
}

/** Logs in with the password, and returns the login ticket. */
export async function ticketOf(client: Client, username = 'alice'): Promise<string> {
  const outcome = await client.post('/auth/login', { username, password });
  const { status, code, login_ticket: ticket } = outcome;
  assert.deepEqual([status, code], [403, 'second_factor_required']);
  return ticket!;
}

/** Asserts that a request was refused and did not sign the client in. */
export async function assertRefused(client: Client, outcome: Outcome, status = 400): Promise<void> {
  assert.equal(outcome.status, status);
  assert.equal(await client.isSignedIn(), false);
}
