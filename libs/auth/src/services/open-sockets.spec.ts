import { Logger } from '@nestjs/common';
import { Clock } from '../domain/ports/clock';
import type { SessionLookup, SessionStore } from '../domain/ports/session-store';
import type { SessionRecord } from '../domain/session';
import { resolveOptions } from '../options/resolve-options';
import { OpenSockets } from './open-sockets';

const NOW = 1_000_000_000_000;

class StoppedClock extends Clock {
  now(): number {
    return NOW;
  }
}

/** The sessions that are there, and the questions that were asked; `failing` answers none. */
class FakeStore {
  readonly live = new Map<string, SessionLookup>();
  readonly asked: (readonly string[])[] = [];
  failing = false;

  findActive(ids: readonly string[]): Promise<readonly SessionLookup[]> {
    this.asked.push(ids);
    if (this.failing) return Promise.reject(new Error('away'));
    return Promise.resolve(ids.flatMap((id) => this.live.get(id) ?? []));
  }

  add(id: string, change: Partial<SessionRecord> = {}, account: SessionLookup['account'] = 'active'): void {
    const ends = { idleExpiresAt: NOW + 1, absoluteExpiresAt: NOW + 1 };
    const session = { id, createdAt: NOW, lastActivity: NOW, ...ends, ...change } as SessionRecord;
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
    sockets = new OpenSockets(resolveOptions(), new StoppedClock(), store as unknown as SessionStore);
  });
  afterEach(() => jest.useRealTimers());

  const open = (id: string, name = id): (() => void) => sockets.register(id, () => void closed.push(name));
  const wait = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1000);

  it('are asked about every 30 seconds, in one question for all, while there are any', async () => {
    for (const id of ['a', 'b', 'c']) {
      store.add(id);
      open(id);
    }
    const another = open('a', 'another');
    expect(jest.getTimerCount()).toBe(1);
    await wait(29.9);
    expect(store.asked).toEqual([]);
    await wait(0.1);
    await wait(30);
    expect(store.asked).toEqual([
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
    expect(store.asked).toHaveLength(2);
  });

  it('close within the interval when their session is gone, over, or of a user who may not be signed in', async () => {
    store.add('live');
    store.add('of an account that only the user store knows', {}, null);
    store.add('idle', { idleExpiresAt: NOW });
    store.add('over', { absoluteExpiresAt: NOW });
    store.add('disabled', {}, 'disabled');
    store.add('deleted', {}, 'deleted');
    for (const id of [...store.live.keys(), 'gone']) open(id);
    open('gone', 'the second of the gone');
    await wait(30);
    expect(closed.sort()).toEqual(['deleted', 'disabled', 'gone', 'idle', 'over', 'the second of the gone']);
    await wait(30);
    expect(store.asked[1]).toEqual(['live', 'of an account that only the user store knows']);
  });

  it('all stay open while the database does not answer, and it is asked again', async () => {
    open('gone');
    store.failing = true;
    await wait(90);
    expect([store.asked.length, closed]).toEqual([3, []]);
    store.failing = false;
    await wait(30);
    expect(closed).toEqual(['gone']);
  });

  it('are not asked about twice at a time, however slow the answer is', async () => {
    open('gone');
    let answer!: (found: readonly SessionLookup[]) => void;
    store.findActive = (ids) => {
      store.asked.push(ids);
      return new Promise((resolve) => (answer = resolve));
    };
    await wait(90);
    expect(store.asked).toHaveLength(1);
    answer([]);
    await wait(0);
    expect(closed).toEqual(['gone']);
  });

  it('that were opened since the question was asked are not closed by its answer, unless it is about their session', async () => {
    open('gone');
    store.findActive = () => {
      open('later');
      open('gone', 'later, of the gone');
      return Promise.resolve([]);
    };
    expect(await sockets.check()).toBe(1);
    expect(closed).toEqual(['gone', 'later, of the gone']);
  });

  it('in great numbers are asked about a thousand at a time', async () => {
    for (let i = 0; i < 2_500; i++) open(`gone ${i}`);
    expect(await sockets.check()).toBe(2_500);
    expect(store.asked.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(closed).toHaveLength(2_500);
  });

  it('close though others cannot be closed', async () => {
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

  it('may take themselves back while they are being closed', () => {
    const takeBack: (() => void)[] = [];
    for (const name of ['one', 'two']) {
      takeBack.push(
        sockets.register('gone', () => {
          closed.push(name);
          takeBack.forEach((call) => call());
        }),
      );
    }
    open('gone', 'three');
    sockets.closeOf(['gone']);
    expect(closed[0]).toBe('one');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leave no timer when the app is closed, nor start one afterwards', async () => {
    open('gone');
    await sockets.stop();
    open('another');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('need a session and a way to close them', () => {
    expect(() => sockets.register(undefined as never, () => undefined)).toThrow(TypeError);
    expect(() => sockets.register('a', undefined as never)).toThrow(TypeError);
  });
});
