import { AuthClient, localTokens, sessionTokens, type WebStorage } from 'nestjs-session-auth-client';
import { BASE, Fixture, signedIn, TTL } from './fixture';

const STORAGES = ['localStorage', 'sessionStorage'];
const page = globalThis as { document?: object; localStorage?: unknown };
const warn = (): jest.SpyInstance => jest.spyOn(console, 'warn').mockClear();

function limited(capacity: number): WebStorage & { capacity: number } {
  const texts = new Map<string, string>();
  return {
    capacity,
    getItem: (key) => texts.get(key) ?? null,
    removeItem: (key) => void texts.delete(key),
    setItem(key, text) {
      const others = [...texts].filter(([other]) => other !== key).reduce((sum, [, one]) => sum + one.length, 0);
      // A browser may count the former text until it has stored the new one.
      if (others + (texts.get(key)?.length ?? 0) + text.length > this.capacity) throw new Error('QuotaExceededError');
      texts.set(key, text);
    },
  };
}

describe('a storage that is full', () => {
  it('a login with cookies succeeds, and the session is kept in memory, which one warning says', async () => {
    const fixture = new Fixture({ kind: 'cookie' });
    const warning = warn();
    const one = fixture.openIn({ localStorage: limited(0) });
    const { sessionId } = await fixture.login(one);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(one.client.sessionId).toBe(sessionId);
    expect(warning.mock.calls).toEqual([[expect.stringContaining('The storage is full.')]]);
  });

  it('a login with tokens succeeds, and no tab finds tokens that have been replaced', async () => {
    const { fixture, server } = await signedIn({ kind: 'memory' });
    const storage = limited(400);
    const open = () => fixture.open(undefined, { storage: localTokens(undefined, storage) });
    const [one, other] = [open(), open()];
    await fixture.login(one);
    expect(storage.getItem('nestjs-session-auth')).not.toBeNull();
    storage.capacity = 100;
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(storage.getItem('nestjs-session-auth')).toBeNull();
    expect(await fixture.requestInAll([other])).toEqual(['signed_out']);
    expect(server.reuses).toBe(0);
  });

  it('a tab with its own session refreshes it, although localStorage has no capacity for the mark', async () => {
    const { fixture } = await signedIn({ kind: 'memory' });
    const one = fixture.openIn({ localStorage: limited(0) }, { storage: sessionTokens(undefined, limited(400)) });
    await fixture.login(one);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
  });

  it('a text that fits only without the text that it replaces is stored', async () => {
    const { fixture } = await signedIn({ kind: 'memory' });
    const storage = limited(250);
    const one = fixture.open(undefined, { storage: localTokens(undefined, storage) });
    await fixture.login(one);
    await fixture.time.run(TTL);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(storage.getItem('nestjs-session-auth')).not.toBeNull();
  });
});

describe('a page or server without a storage', () => {
  afterEach(() => {
    for (const name of ['document', ...STORAGES]) Reflect.deleteProperty(globalThis, name);
  });

  it.each([
    ['localTokens', localTokens],
    ['sessionTokens', sessionTokens],
  ])('a page whose storage is blocked keeps %s in memory, which one warning says', async (_, tokens) => {
    page.document = {};
    // As in a browser that blocks storage, access to the properties throws.
    const get = (): never => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    };
    for (const name of STORAGES) Object.defineProperty(globalThis, name, { get, configurable: true });
    const warning = warn();
    const fixture = new Fixture();
    const one = fixture.open(undefined, { storage: tokens() });
    tokens();
    await fixture.login(one);
    expect(await fixture.requestInAll([one])).toEqual([200]);
    expect(warning.mock.calls).toEqual([[expect.stringMatching(/Storage is not available\. .* in memory\./)]]);
  });

  it('a module that creates a client can be loaded on a server, and only the use of the client fails', async () => {
    // Node.js 25 has an object without methods.
    page.localStorage = {};
    const client = new AuthClient({ storage: localTokens() });
    expect([await client.isSignedIn(), client.sessionId]).toEqual([false, null]);
    await expect(client.fetch('/me')).rejects.toThrow('`baseUrl` is required outside a page.');
    await expect(new AuthClient({ transport: 'cookie' }).isSignedIn()).rejects.toThrow('`baseUrl` is required');
    const tokens = { accessToken: 'a', refreshToken: 'r', sessionId: 's' };
    // Otherwise, the session of one user would be that of all users of the server.
    await expect(new AuthClient({ baseUrl: BASE, storage: localTokens() }).adopt(tokens)).rejects.toThrow(
      'memoryTokens()',
    );
  });
});
