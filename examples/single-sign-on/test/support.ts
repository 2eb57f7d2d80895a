import assert from 'node:assert/strict';
import { afterEach, beforeEach } from 'node:test';
import type { AuthPrincipal } from 'nestjs-session-auth';
import type { Browser } from './browser.js';
import { Environment } from './environment.js';

export const MINUTE = 60_000;
export const ALICE = { username: 'alice', password: 'correct horse battery staple' };

export let environment: Environment;
export let browser: Browser;

/** Starts the application before each test of a file, and stops it afterwards. */
export function startForEachTest(): void {
  beforeEach(async () => {
    environment = new Environment();
    await environment.start();
    browser = environment.browser();
  });
  afterEach(() => environment.stop());
}

export const principalOf = (of: Browser): Promise<AuthPrincipal | null> =>
  environment.auth.authenticate(of.cookies.get('auth_access') ?? '');

export const statusOf = async (response: Promise<Response>): Promise<number> => (await response).status;

/** Creates a user with a password, and returns a browser in which the user is signed in. */
export async function passwordBrowser(user = ALICE): Promise<Browser> {
  await environment.auth.createUser(user);
  const opened = environment.browser();
  assert.equal(await statusOf(opened.post('/auth/login/', user)), 200);
  return opened;
}

/** Sends a callback, and returns the status after asserting that the callback signed nobody in. */
export async function refused(by: Browser, callback: URL, from?: string): Promise<number> {
  const status = await statusOf(by.finish(callback, from));
  assert.equal(await by.sessions(), null);
  return status;
}

/** Returns the claims without one of them. */
export const without = <T extends object>(claims: T, name: string): Partial<T> =>
  Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name)) as Partial<T>;
