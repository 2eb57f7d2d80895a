import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';

const SCRIPT = readFileSync('public/page.js', 'utf8');
const ORIGIN = 'https://app.example.com';

/** Runs the script of the page at a path, and returns the button that begins a login and the redirects. */
function open(pathname: string, stored: Map<string, string>): { button: { onclick(): void }; redirects: string[] } {
  const redirects: string[] = [];
  const button = { dataset: { start: 'login' }, onclick: () => assert.fail('The page is not ready.') };
  const element = { textContent: '', append: () => undefined };
  runInNewContext(SCRIPT, {
    location: {
      pathname,
      origin: ORIGIN,
      search: '?code=x',
      assign: () => 0,
      replace: (to: string) => redirects.push(to),
    },
    document: { getElementById: () => element, querySelectorAll: () => [button], createElement: () => element },
    sessionStorage: {
      setItem: (key: string, value: string) => stored.set(key, value),
      getItem: (key: string) => stored.get(key) ?? null,
    },
    history: { replaceState: () => undefined },
    fetch: () => Promise.resolve(Response.json([])),
  });
  return { button, redirects };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

it('the page returns to its own origin after a login, whatever path the login began at', async () => {
  const paths = ['/', '/orders', '//evil.test/..%2findex.html', '//evil.test/', '/\\evil.test/', '/.//evil.test/'];
  for (const path of paths) {
    const stored = new Map<string, string>();
    const { button } = open(path, stored);
    await settled();
    button.onclick();
    await settled();
    const { redirects } = open('/sso/callback', stored);
    await settled();
    assert.deepEqual(
      redirects.map((to) => new URL(to, `${ORIGIN}/sso/callback`).origin),
      [ORIGIN],
      path,
    );
  }
});
