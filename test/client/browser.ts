import type { ClientClock, ClientEnvironment, WebStorage } from 'nestjs-session-auth-client';

/** The delay until the browser, and another tab, see what one tab does. */
export type Lag = () => number;

export interface BrowserTraits {
  readonly fetch: ClientEnvironment['fetch'];
  readonly clock: ClientClock;
  /** Calls after this many milliseconds; after 0, immediately. */
  readonly after?: (milliseconds: number, run: () => void) => void;
  readonly lag?: Lag;
  readonly hasLocks?: boolean;
  readonly hasBroadcast?: boolean;
}

/** A queue of messages, and when the last one arrives. */
interface Way {
  until: number;
  count: number;
}

interface Waiting {
  readonly tab: Tab;
  readonly start: () => void;
}

/** A browser with tabs of one origin: the state that they share, and the view that each has of it. */
export class Browser {
  readonly tabs: Tab[] = [];
  /** What `localStorage` holds when everything has arrived. */
  readonly stored = new Map<string, string>();
  isOnline = true;
  private readonly locks = new Map<string, { holder: Tab; readonly waiting: Waiting[] }>();
  private readonly after: (milliseconds: number, run: () => void) => void;
  private readonly lag: Lag;

  constructor(readonly traits: BrowserTraits) {
    this.after = traits.after ?? ((_, run) => run());
    this.lag = traits.lag ?? (() => 0);
  }

  openTab(): Tab {
    const tab = new Tab(this);
    for (const [key, value] of this.stored) tab.view.set(key, value);
    this.tabs.push(tab);
    return tab;
  }

  /** Writes as a tab does: the tab sees it immediately, the browser after a lag, the other tabs after another. */
  write(writer: Tab, key: string, value: string | null): void {
    put(writer.view, key, value);
    writer.pending.set(key, (writer.pending.get(key) ?? 0) + 1);
    this.inOrder(writer.out, () => {
      put(this.stored, key, value);
      for (const tab of this.tabs) this.inOrder(tab.in, () => tab.hearOfWrite(key, value, tab === writer));
    });
  }

  post(from: Tab, name: string, message: unknown): void {
    const copy: unknown = structuredClone(message);
    for (const tab of this.tabs) {
      if (tab !== from) this.after(this.lag(), () => tab.hear(name, copy));
    }
  }

  async lock<T>(tab: Tab, name: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      const lock = this.locks.get(name);
      if (lock) return void lock.waiting.push({ tab, start });
      this.locks.set(name, { holder: tab, waiting: [] });
      start();
    });
    await tab.point();
    try {
      return await work();
    } finally {
      if (!tab.isClosed) this.unlock(name);
    }
  }

  /** Releases the locks of a tab that is closed or crashes. */
  release(tab: Tab): void {
    for (const [name, lock] of this.locks) {
      lock.waiting.splice(0, lock.waiting.length, ...lock.waiting.filter((one) => one.tab !== tab));
      if (lock.holder === tab) this.unlock(name);
    }
  }

  /** Messages of one queue arrive in the order in which they were sent. */
  private inOrder(way: Way, run: () => void): void {
    const now = this.traits.clock.now();
    // Not immediately either, while an earlier message is due at this moment.
    way.until = Math.max(way.until + (way.count > 0 ? 0.001 : 0), now + this.lag());
    way.count++;
    this.after(way.until - now, () => {
      way.count--;
      run();
    });
  }

  private unlock(name: string): void {
    const lock = this.locks.get(name)!;
    const next = lock.waiting.shift();
    if (!next) return void this.locks.delete(name);
    lock.holder = next.tab;
    next.start();
  }
}

/** One tab, which can be closed at any of its calls to the browser: then nothing in it continues. */
export class Tab {
  readonly view = new Map<string, string>();
  readonly pending = new Map<string, number>();
  readonly out: Way = { until: 0, count: 0 };
  readonly in: Way = { until: 0, count: 0 };
  readonly session = new Map<string, string>();
  isClosed = false;
  /** The number of its calls to the browser. */
  points = 0;
  closesAt = Infinity;
  private readonly channels = new Map<string, (event: { readonly data: unknown }) => void>();
  private readonly listeners = new Set<(key: string | null, value: string | null) => void>();

  constructor(private readonly browser: Browser) {}

  readonly localStorage: WebStorage = {
    getItem: (key) => this.view.get(key) ?? null,
    setItem: (key, value) => this.write(key, value),
    removeItem: (key) => this.write(key, null),
  };

  readonly sessionStorage: WebStorage = {
    getItem: (key) => this.session.get(key) ?? null,
    setItem: (key, value) => void (this.isClosed || this.session.set(key, value)),
    removeItem: (key) => void (this.isClosed || this.session.delete(key)),
  };

  get environment(): Partial<ClientEnvironment> {
    const { hasLocks = true, hasBroadcast = true, clock, fetch } = this.browser.traits;
    return {
      clock: { now: () => clock.now(), wait: (ms, signal) => this.through(clock.wait(ms, signal)) },
      isOnline: () => this.browser.isOnline,
      fetch: async (input, init) => {
        await this.point();
        return this.through(fetch(input, init));
      },
      locks: hasLocks ? { request: (name, work) => this.browser.lock(this, name, work) } : null,
      localStorage: this.localStorage,
      openBroadcast: hasBroadcast ? (name) => this.openBroadcast(name) : null,
      warn: () => undefined,
      onStorage: (changed) => {
        this.listeners.add(changed);
        return () => this.listeners.delete(changed);
      },
    };
  }

  /** Duplicates the tab, its `sessionStorage` included. */
  duplicate(): Tab {
    const copy = this.browser.openTab();
    for (const [key, value] of this.session) copy.session.set(key, value);
    return copy;
  }

  close(): void {
    this.isClosed = true;
    this.browser.release(this);
  }

  /** A call to the browser, at which the tab may be closed. */
  async point(): Promise<void> {
    this.count();
    if (this.isClosed) await new Promise(() => undefined);
  }

  hearOfWrite(key: string, value: string | null, isOwn: boolean): void {
    const pending = this.pending.get(key) ?? 0;
    if (isOwn) return void this.pending.set(key, pending - 1);
    // The tab's own write comes later and replaces this one.
    if (pending > 0) return;
    put(this.view, key, value);
    if (!this.isClosed) for (const listener of this.listeners) listener(key, value);
  }

  hear(name: string, data: unknown): void {
    if (!this.isClosed) this.channels.get(name)?.({ data });
  }

  private async through<T>(work: Promise<T>): Promise<T> {
    const value = await work;
    await this.point();
    return value;
  }

  private write(key: string, value: string | null): void {
    this.count();
    if (!this.isClosed) this.browser.write(this, key, value);
  }

  private count(): void {
    if (++this.points === this.closesAt) this.close();
  }

  private openBroadcast(name: string): ReturnType<NonNullable<ClientEnvironment['openBroadcast']>> {
    const { channels } = this;
    let isOpen = true;
    return {
      postMessage: (message) => {
        if (!isOpen) throw new DOMException('Channel is closed', 'InvalidStateError');
        if (!this.isClosed) this.browser.post(this, name, message);
      },
      set onmessage(listener: ((event: { readonly data: unknown }) => void) | null) {
        if (listener) channels.set(name, listener);
      },
      close: () => {
        isOpen = false;
        channels.delete(name);
      },
    };
  }
}

function put(map: Map<string, string>, key: string, value: string | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}
