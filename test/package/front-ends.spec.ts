import { exec, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AuthClient } from 'nestjs-session-auth-client';
import type { Page, Response } from 'playwright-core';
import { freePort } from '../support/port';
import { describeInChromium } from '../browser/chromium';
import { BrowserEnvironment, PASSWORD } from '../browser/environment';
import { MINUTE } from '../support/driven-clock';
import { ROOT, run } from './run';

jest.setTimeout(300_000);

const TTL = 15 * MINUTE;
const INSTALL = 'npm ci --prefer-offline --no-audit --no-fund && npm run build';

describeInChromium('the front ends of the examples', () => {
  let work: string;
  let env: BrowserEnvironment;
  const started: ChildProcess[] = [];
  const urls: Record<string, string> = {};

  const inExample = (name: string, more: object = {}) => ({
    cwd: join(work, 'examples', name),
    env: { ...process.env, NODE_ENV: undefined, API: env.url, NEXT_TELEMETRY_DISABLED: '1', ...more },
  });
  const build = (name: string, command: string) =>
    promisify(exec)(command, inExample(name)).catch(({ message, stdout }: Error & { stdout: string }) => {
      throw new Error(`The example ${name} cannot be built: ${message}${stdout}`);
    });

  async function start(setup: string, command: string, port: number): Promise<void> {
    const options = inExample(setup.split(' ')[0]!, { PORT: String(port) });
    started.push(spawn(command, { ...options, shell: true, detached: true, stdio: 'ignore' }));
    urls[setup] = `http://localhost:${port}`;
    while (!(await fetch(urls[setup]).catch(() => null))) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  // The examples have the layout of the repository, and install the client as it is published.
  beforeAll(async () => {
    work = mkdtempSync(join(tmpdir(), 'nsa-front-ends-'));
    run(process.execPath, ['scripts/build-client.mjs', join(work, 'libs/client/dist')], ROOT);
    for (const path of ['libs/client/package.json', 'libs/client/LICENSE', 'examples/react', 'examples/next']) {
      mkdirSync(dirname(join(work, path)), { recursive: true });
      const filter = (file: string): boolean => !['node_modules', '.next', 'dist'].includes(basename(file));
      cpSync(join(ROOT, path), join(work, path), { recursive: true, filter });
    }
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const cookies = { mode: 'optional', secure: false, trustedOrigins: [`http://localhost:${ports[2]}`] };
    env = await BrowserEnvironment.start({ refreshReuseGraceSeconds: 10, cookies });
    await Promise.all([
      build('react', `${INSTALL} && VITE_TRANSPORT=bearer npx vite build --outDir tokens`),
      build('next', INSTALL),
    ]);
    await start('react with cookies', 'npm start', ports[0]);
    await start('react with tokens', 'npm start -- --outDir tokens', ports[1]);
    await start('next with cookies', 'npm start', ports[2]);
  });
  afterEach(async () => {
    expect([env.errors, await env.recorded('token_reuse')]).toEqual([[], 0]);
    await env.reset();
  });
  afterAll(async () => {
    for (const { pid } of started.splice(0)) process.kill(-pid!, 'SIGTERM');
    await env.close();
    rmSync(work, { recursive: true, force: true });
  });

  const signIn = async (page: Page, name: string): Promise<void> => {
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await isShown(page, name);
  };
  const isShown = (page: Page, name: string): Promise<void> => page.getByText(`Signed in as ${name}`).waitFor();
  const reload = (page: Page): Promise<void> => page.getByRole('button', { name: 'Reload' }).click();
  const answered = (page: Page): Promise<Response> =>
    page.waitForResponse((response) => /\/api\/(me|auth\/sessions)$/.test(response.url()) && response.status() === 200);

  describe.each(['react with cookies', 'react with tokens', 'next with cookies'])('%s', (setup) => {
    async function open(count: number): Promise<Page[]> {
      const window = await env.openWindow({ baseURL: urls[setup]!, storageState: { cookies: [], origins: [] } });
      const tabs: Page[] = [];
      while (tabs.length < count) tabs.push(await window.newPage());
      for (const tab of tabs) await tab.goto('/');
      return tabs;
    }

    it('alice signs in, her session is refreshed, and a tab shows that the session was ended elsewhere', async () => {
      const [page] = (await open(1)) as [Page];
      await signIn(page, 'alice');
      env.clock.advance(TTL);
      const refreshed = (response: Response): boolean => response.request().method() === 'POST' && response.ok();
      await Promise.all([page.waitForResponse(refreshed), reload(page)]);
      expect(await env.recorded('token_refresh')).toBe(1);
      await page.context().clearCookies({ name: 'auth_access' });
      await page.reload();
      await isShown(page, 'alice');
      const elsewhere = new AuthClient({ baseUrl: env.api });
      await elsewhere.login('alice', PASSWORD);
      await elsewhere.logoutAll();
      await reload(page);
      await page.getByText('Your session has ended.').waitFor();
    });

    it('a tab shows the user who signs in in another tab', async () => {
      const [one, other] = (await open(2)) as [Page, Page];
      await signIn(one, 'alice');
      await isShown(other, 'alice');
      await other.getByRole('button', { name: 'Sign out' }).click();
      await one.getByRole('button', { name: 'Sign in' }).waitFor();
      await signIn(other, 'bob');
      await isShown(one, 'bob');
      await Promise.all([answered(one), reload(one)]);
    });
  });
});
