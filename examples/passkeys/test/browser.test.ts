import { AuthService } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { chromium, type CDPSession, type Page } from 'playwright-core';
import { startApplication } from './application.js';

const executablePath = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';
const isInstalled = existsSync(executablePath);
const isRequired = (process.env['TEST_REQUIRE'] ?? '').split(',').includes('chromium');
if (!isInstalled && isRequired) {
  throw new Error(`TEST_REQUIRE contains chromium, but there is none at ${executablePath}. Set CHROMIUM_PATH.`);
}

const skip = isInstalled ? false : `There is no Chromium at ${executablePath}. Set CHROMIUM_PATH.`;

test('passkeys in a real browser', { skip, timeout: 120_000 }, async (context) => {
  const { app, origin } = await startApplication();
  after(() => app.close());
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args: [...args, '--disable-gpu'] });
  after(() => browser.close());
  const page = await browser.newPage();
  const devtools = await withAuthenticator(page);
  await page.goto(origin);

  await context.test('a password opens a session while the user has no passkey', async () => {
    await enterPassword(page);
    await expectStatus(page, 'password: done');
  });

  await context.test('a user with a recent login can add a passkey', async () => {
    await click(page, 'Add a passkey', 'register: done');
    await click(page, 'Pay out', 'payout: recent_login_required');
  });

  await context.test('an authenticator refuses a second passkey for the same user', async () => {
    await click(page, 'Confirm with a passkey', 'confirm: done');
    await click(page, 'Add a passkey', 'register: InvalidStateError');
  });

  await context.test('the passkey is the second factor after the password', async () => {
    await click(page, 'Sign out', 'logout: done');
    await enterPassword(page);
    await expectStatus(page, 'password: done');
    assert.deepEqual(await methods(), ['hwk', 'pwd', 'user']);
    await click(page, 'Pay out', 'payout: done');
  });

  await context.test('the passkey alone signs the user in, without a name', async () => {
    await click(page, 'Sign out', 'logout: done');
    await click(page, 'Sign in with a passkey', 'login: done');
    assert.deepEqual(await methods(), ['hwk', 'user']);
    await click(page, 'Pay out', 'payout: done');
  });

  await context.test('the passkey confirms the identity within a session', async () => {
    await click(page, 'Confirm with a passkey', 'confirm: done');
    await click(page, 'Pay out', 'payout: done');
  });

  await context.test('a passkey without user verification does not sign the user in', async () => {
    await click(page, 'Sign out', 'logout: done');
    await devtools.verify(false);
    await click(page, 'Sign in with a passkey', 'login: NotAllowedError');
    await devtools.verify(true);
  });

  await context.test('a response without the user verification flag is refused', async () => {
    await devtools.override({ isBadUV: true });
    await click(page, 'Sign in with a passkey', 'login: 400');
    await devtools.override({});
    await click(page, 'Sign in with a passkey', 'login: done');
  });

  /** Returns the authentication methods of the page's session. */
  async function methods(): Promise<string[]> {
    const cookies = await page.context().cookies(origin);
    const token = cookies.find(({ name }) => name === 'auth_access')?.value ?? '';
    const principal = await app.get(AuthService).authenticate(token);
    return Object.keys(principal?.methods ?? {}).sort();
  }
});

/** Adds a virtual platform authenticator with discoverable credentials and user verification to Chromium. */
async function withAuthenticator(page: Page) {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return {
    verify: (isUserVerified: boolean) => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    override: (bits: { isBadUV?: boolean }) =>
      devtools.send('WebAuthn.setResponseOverrideBits', { authenticatorId, ...bits }),
  };
}

async function enterPassword(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('alice');
  await page.getByLabel('Password').fill('correct horse battery staple');
  await page.getByRole('button', { name: 'Sign in with the password' }).click();
}

async function click(page: Page, name: string, status: string): Promise<void> {
  await page.getByRole('button', { name }).click();
  await expectStatus(page, status);
}

async function expectStatus(page: Page, status: string): Promise<void> {
  const element = page.getByRole('status').filter({ hasText: /./ });
  await element.waitFor();
  assert.equal(await element.textContent(), status);
}
