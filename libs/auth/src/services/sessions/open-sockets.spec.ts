import { Logger } from '@nestjs/common';
import { Clock } from '../../domain/ports/platform';
import type { SessionLookup, SessionStore } from '../../domain/ports/sessions';
import type { SessionRecord } from '../../domain/session';
import { resolveOptions } from '../../options/resolve-options';
import { OpenSockets } from './open-sockets';

const NOW = 1_000_000_000_000;

class StoppedClock extends Clock {
  now(): number {
    return NOW;
  }
}

/** A store of sessions that records its calls. Where it `isFailing` it rejects them. */
class FakeStore {
  readonly live = new Map<string, SessionLookup>();
  readonly calls: (readonly string[])[] = [];
  isFailing = false;

  findActive(ids: readonly string[]): Promise<readonly SessionLookup[]> {
    this.calls.push(ids);
    if (this.isFailing) return Promise.reject(new Error('away'));
    return Promise.resolve(ids.flatMap((id) => this.live.get(id) ?? []));
  }

  add(id: string, change: Partial<SessionRecord> = {}, account: SessionLookup['account'] = 'active'): void {
    const times = { createdAt: NOW, authenticatedAt: NOW, lastActivity: NOW, expiresAt: NOW + 1 };
    const session = { id, ...times, ...change } as SessionRecord;
    this.live.set(id, { session, account });
  }
}

describe('open sockets', () => {
  let store: FakeStore;
  let sockets: OpenSockets;
  let closed: string[];

  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers();
    store = new FakeStore();
    closed = [];
    sockets = new OpenSockets(resolveOptions({}), new StoppedClock(), store as unknown as SessionStore);
  });
  afterEach(() => jest.useRealTimers());

  const open = (id: string, name = id): (() => void) => sockets.register(id, () => void closed.push(name));
  const wait = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1000);

  it('are checked every 30 seconds, in one read for all, while there are any', async () => {
    for (const id of ['a', 'b', 'c']) {
      store.add(id);
      open(id);
    }
    const another = open('a', 'another');
    expect(jest.getTimerCount()).toBe(1);
    await wait(29.9);
    expect(store.calls).toEqual([]);
    await wait(0.1);
    await wait(30);
    expect(store.calls).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    expect(closed).toEqual([]);
    another();
    another();
    expect(jest.getTimerCount()).toBe(1);
    sockets.closeOf(['a', 'b', 'c', 'unknown']);
    expect(closed).toEqual(['a', 'b', 'c']);
    expect(jest.getTimerCount()).toBe(0);
    await wait(60);
    expect(store.calls).toHaveLength(2);
  });

  it('close within the interval when their session has ended or expired, or its user is no longer active', async () => {
    store.add('live');
    store.add('of an account that only the user store knows', {}, null);
    store.add('expired', { expiresAt: NOW });
    store.add('disabled', {}, 'disabled');
    store.add('deleted', {}, 'deleted');
    for (const id of [...store.live.keys(), 'gone']) open(id);
    open('gone', 'the second of the gone');
    await wait(30);
    expect(closed.sort()).toEqual(['deleted', 'disabled', 'expired', 'gone', 'the second of the gone']);
    await wait(30);
    expect(store.calls[1]).toEqual(['live', 'of an account that only the user store knows']);
  });

  it('all stay open while the database does not respond, and are checked again', async () => {
    open('gone');
    store.isFailing = true;
    await wait(90);
    expect([store.calls.length, closed]).toEqual([3, []]);
    store.isFailing = false;
    await wait(30);
    expect(closed).toEqual(['gone']);
  });

  it('are not checked twice at a time, however slow the database is', async () => {
    open('gone');
    let respond!: (found: readonly SessionLookup[]) => void;
    store.findActive = (ids) => {
      store.calls.push(ids);
      return new Promise((resolve) => (respond = resolve));
    };
    await wait(90);
    expect(store.calls).toHaveLength(1);
    respond([]);
    await wait(0);
    expect(closed).toEqual(['gone']);
  });

  it('that were opened during a check are not closed by it, unless it covers their session', async () => {
    open('gone');
    store.findActive = () => {
      open('later');
      open('gone', 'later, of the gone');
      return Promise.resolve([]);
    };
    expect(await sockets.check()).toBe(1);
    expect(closed).toEqual(['gone', 'later, of the gone']);
  });

  it('are checked a thousand at a time', async () => {
    for (let i = 0; i < 2_500; i++) open(`gone ${i}`);
    expect(await sockets.check()).toBe(2_500);
    expect(store.calls.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(closed).toHaveLength(2_500);
  });

  it('close although others cannot be closed', async () => {
    const fail = (): never => {
      throw new Error('broken');
    };
    sockets.register('gone', fail);
    sockets.register('gone', () => Promise.reject(new Error('broken')));
    open('gone');
    sockets.closeOf(['gone']);
    await wait(0);
    expect(closed).toEqual(['gone']);
  });

  it('may be unregistered while they are being closed', () => {
    const unregister: (() => void)[] = [];
    for (const name of ['one', 'two']) {
      unregister.push(
        sockets.register('gone', () => {
          closed.push(name);
          unregister.forEach((call) => call());
        }),
      );
    }
    open('gone', 'three');
    sockets.closeOf(['gone']);
    expect(closed[0]).toBe('one');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leave no timer when the application is closed, and start none afterwards', async () => {
    open('gone');
    await sockets.beforeApplicationShutdown();
    open('another');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('need a session and a function that closes them', () => {
    for (const opener of [undefined, null, {}]) {
      expect(() => sockets.register(opener as never, () => undefined)).toThrow(TypeError);
    }
    expect(() => sockets.register('a', undefined as never)).toThrow(TypeError);
  });
});
