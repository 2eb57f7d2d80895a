import { AuthClient } from 'nestjs-session-auth-client';
import { Sample } from '../support/sample';

describe('the page of the sample application', () => {
  let sample: Sample;
  let url: string;
  beforeAll(async () => {
    sample = Sample.start({ DATABASE_URL: 'sqlite::memory:' });
    url = await sample.url();
  }, 60_000);
  afterAll(() => sample.stop());

  const get = (path: string, Accept = '*/*', Cookie = ''): Promise<Response> =>
    fetch(url + path, { headers: { Accept, Cookie } });

  it('the root path responds with JSON to programs and with the page to browsers', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const answer = await get('/', accept);
      expect(await answer.json()).toEqual({ service: 'nestjs-session-auth sample', log_in_at: '/auth/login/' });
      expect(answer.headers.get('Vary')).toBe('Accept');
    }
    const page = await get('/', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain('<h1 id="pitch-title">');
  });

  it('the page runs only its own scripts and has no inline scripts, styles or event handlers', async () => {
    const page = await get('/', 'text/html');
    const policy = page.headers.get('Content-Security-Policy')!;
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]* src="\/page\/)|<style|\sstyle=|\son\w+=/);
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) expect((await get(path!)).status).toBe(200);
  });

  it('no other file is served, and the stream of session events requires a session', async () => {
    const outside = ['/page/..%2fmain.ts', '/page/%2e%2e%2fmain.ts', '/client/package.json', '/page/index.html'];
    for (const path of [...outside, '/page/constructor', '/page/']) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    expect((await get('/session-events')).status).toBe(401);
  });

  it('the route of administrators does not reveal to other users which names exist', async () => {
    const act = async (actor: string, username: string): Promise<number> => {
      const client = new AuthClient({ baseUrl: url });
      await client.login(actor, 'secret');
      const request = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
      const body = JSON.stringify({ username, reason: 'ticket 7' });
      return (await client.fetch('/support/impersonations', { ...request, body })).status;
    };
    expect([await act('bob', 'alice'), await act('bob', 'nobody')]).toEqual([403, 403]);
    expect([await act('alice', 'bob'), await act('alice', 'nobody')]).toEqual([201, 404]);
  });

  it('the page settings contain users and passwords only if they are the default ones, and report session cookies only if the API has the same origin', async () => {
    const users = ['alice', 'bob'].map((username) => ({ username, password: 'secret' }));
    const published = await (await get('/page-settings')).json();
    expect(published).toMatchObject({ users, has_session_cookies: false });
    const other = Sample.start({
      DATABASE_URL: 'sqlite::memory:',
      SAMPLE_USERS: 'carol:something',
      API_ORIGIN: 'http://api.example.localhost:3000',
    });
    const settings = await fetch(`${await other.url()}/page-settings`);
    expect(await settings.json()).toMatchObject({ users: [], has_session_cookies: null });
    await other.stop();
    for (const [cookie, found] of [
      ['other=1; auth_access=x', true],
      ['other=1; auth_refresh=x', true],
      ['other=auth_access=x; auth_access2=x', false],
    ] as const) {
      const answer = await (await get('/page-settings', '*/*', cookie)).json();
      expect(answer).toMatchObject({ has_session_cookies: found });
    }
  }, 60_000);
});
