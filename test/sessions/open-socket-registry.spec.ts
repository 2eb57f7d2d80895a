import { Logger } from '@nestjs/common';
import type { AuthPrincipal } from 'nestjs-session-auth';
import { DrivenClock } from '../support/driven-clock';
import type { ActiveSession, Authenticate } from '../../libs/auth/src/sessions/authenticate';
import type { SessionRecord } from '../../libs/auth/src/sessions/session';
import type { Signals } from '../../libs/auth/src/history/signals';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { OpenSockets } from '../../libs/auth/src/sessions/open-sockets';

const clock = new DrivenClock();
const NOW = clock.now();

/** A session store that records its calls, and rejects them while `isFailing` is true. */
class FakeStore {
  readonly live = new Map<string, ActiveSession>();
  readonly calls: (readonly string[])[] = [];
  isFailing = false;

  findActive(ids: readonly string[]): Promise<readonly ActiveSession[]> {
    this.calls.push(ids);
    if (this.isFailing) return Promise.reject(new Error('unavailable'));
    return Promise.resolve(ids.flatMap((id) => this.live.get(id) ?? []));
  }

  add(id: string, change: Partial<SessionRecord> = {}, account: ActiveSession['account'] = 'active'): void {
    const times = { createdAt: NOW, authenticatedAt: NOW, lastActivity: NOW, expiresAt: NOW + 1 };
    this.live.set(id, { session: { id, ...times, ...change }, account } as ActiveSession);
  }
}

const signals = { react: () => undefined } as unknown as Signals;

describe('open sockets', () => {
  let store: FakeStore;
  let sockets: OpenSockets;
  let closed: string[];

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers();
    store = new FakeStore();
    closed = [];
    sockets = new OpenSockets(resolveOptions({}), clock, store as unknown as Authenticate, signals, {} as never);
  });
  afterEach(() => jest.useRealTimers());

  const open = (id: string, name = id): (() => void) => sockets.register(id, () => void closed.push(name));
  const wait = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1000);

  it('open sockets are checked at once and every 30 seconds in a single read, which stops when no socket is open', async () => {
    for (const id of ['a', 'b', 'c']) {
      store.add(id);
      open(id);
    }
    const another = open('A', 'another');
    expect(jest.getTimerCount()).toBe(1);
    await wait(29.9);
    expect(store.calls).toEqual([['a', 'b', 'c']]);
    await wait(30.1);
    expect(store.calls).toEqual(Array(3).fill(['a', 'b', 'c']));
    another();
    another();
    expect([closed, jest.getTimerCount()]).toEqual([[], 1]);
    sockets.closeForSessions(['a', 'b', 'c', 'unknown']);
    expect([closed, jest.getTimerCount()]).toEqual([['a', 'b', 'c'], 0]);
    await wait(60);
    expect(store.calls).toHaveLength(3);
  });

  it('a socket closes at once if its session has ended or expired, or its user is no longer active', async () => {
    store.add('live');
    store.add('account status unknown', {}, null);
    store.add('expired', { expiresAt: NOW });
    store.add('disabled', {}, 'disabled');
    store.add('deleted', {}, 'deleted');
    for (const id of [...store.live.keys(), 'gone']) open(id);
    open('gone', 'gone, second socket');
    await wait(0);
    expect(closed.sort()).toEqual(['deleted', 'disabled', 'expired', 'gone', 'gone, second socket']);
    await wait(30);
    expect(store.calls[1]).toEqual(['live', 'account status unknown']);
  });

  it('all sockets stay open while the database does not respond, and are checked again', async () => {
    open('gone');
    store.isFailing = true;
    await wait(90);
    expect([store.calls.length, closed]).toEqual([4, []]);
    store.isFailing = false;
    await wait(30);
    expect(closed).toEqual(['gone']);
  });

  it('a check does not close a socket that was opened during the check, unless the check covers its session', async () => {
    store.add('gone');
    open('gone');
    await wait(0);
    store.add('later');
    const find = store.findActive.bind(store);
    store.findActive = (ids) => {
      store.live.delete('gone');
      open('later');
      open('gone', 'gone, opened later');
      store.findActive = find;
      return find(ids);
    };
    expect(await sockets.check()).toBe(1);
    await wait(0);
    expect(closed).toEqual(['gone', 'gone, opened later']);
  });

  it('a look-up reads at most 1,000 sessions per query', async () => {
    for (let i = 0; i < 2_500; i++) open(`gone ${i}`);
    await wait(0);
    expect(store.calls.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(closed).toHaveLength(2_500);
  });

  it('sockets are closed even if closing other sockets fails, and can be unregistered while they are being closed', async () => {
    sockets.register('gone', () => JSON.parse('{') as never);
    sockets.register('gone', () => Promise.reject(new Error('broken')));
    open('gone', 'one');
    const unregister: (() => void)[] = [];
    unregister.push(
      sockets.register('gone', () => {
        closed.push('two');
        unregister.forEach((call) => call());
      }),
      open('gone', 'three'),
    );
    sockets.closeForSessions(['gone']);
    await wait(0);
    expect(closed.slice(0, 2)).toEqual(['one', 'two']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('no timer remains when the application is closed, and none starts afterwards', async () => {
    open('gone');
    await sockets.beforeApplicationShutdown();
    open('another');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('a socket of a recovered connection, whose principal was stored as JSON, closes if its session was proven again', async () => {
    store.add('current');
    store.add('proven again', { authenticatedAt: NOW + 1 });
    for (const sessionId of store.live.keys()) {
      const principal = JSON.parse(JSON.stringify({ sessionId, authenticatedAt: new Date(NOW) }));
      sockets.register(principal as AuthPrincipal, () => void closed.push(sessionId));
    }
    await wait(0);
    expect(closed).toEqual(['proven again']);
  });

  it('register() throws without a session or a function that closes the socket', () => {
    for (const opener of [undefined, null, {}]) {
      expect(() => sockets.register(opener as never, () => undefined)).toThrow(TypeError);
    }
    expect(() => sockets.register('a', undefined as never)).toThrow(TypeError);
  });
});
