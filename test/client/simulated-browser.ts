import type { ClientClock, ClientEnvironment, WebStorage } from 'nestjs-session-auth-client';

export type Delay = () => number;

export interface BrowserTraits {
  readonly fetch: ClientEnvironment['fetch'];
  readonly clock: ClientClock;
  /** Calls `run` after this many milliseconds, or immediately for 0. */
  readonly after?: (milliseconds: number, run: () => void) => void;
  readonly lag?: Delay;
  readonly hasLocks?: boolean;
  readonly hasBroadcast?: boolean;
}

interface Waiting {
  readonly tab: Tab;
  readonly start: () => void;
}

/** A browser with tabs of one origin, which share state. Each tab has its own view of that state. */
export class Browser {
  readonly tabs: Tab[] = [];
  /** The contents of `localStorage` once every write has arrived. */
  readonly stored = new Map<string, string>();
  private readonly locks = new Map<string, { holder: Tab; readonly waiting: Waiting[] }>();
  private readonly after: (milliseconds: number, run: () => void) => void;
  private readonly lag: Delay;

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

  /** Writes to `localStorage`. The tab sees the write immediately, the browser after a delay, other tabs after a further delay. */
  write(writer: Tab, key: string, value: string | null): void {
    setOrDelete(writer.view, key, value);
    writer.pending.set(key, (writer.pending.get(key) ?? 0) + 1);
    this.deliverInOrder(writer.outgoing, () => {
      setOrDelete(this.stored, key, value);
      for (const tab of this.tabs)
        this.deliverInOrder(tab.incoming, () => tab.receiveWrite(key, value, tab === writer));
    });
  }

  post(from: Tab, name: string, message: unknown): void {
    const copy: unknown = structuredClone(message);
    for (const tab of this.tabs) {
      if (tab !== from) this.after(this.lag(), () => tab.receive(name, copy));
    }
  }

  async lock<T>(tab: Tab, name: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      const lock = this.locks.get(name);
      if (lock) return void lock.waiting.push({ tab, start });
      this.locks.set(name, { holder: tab, waiting: [] });
      start();
    });
    await tab.call();
    try {
      return await work();
    } finally {
      if (!tab.isClosed) this.unlock(name);
    }
  }

  release(tab: Tab): void {
    for (const [name, lock] of this.locks) {
      lock.waiting.splice(0, lock.waiting.length, ...lock.waiting.filter((one) => one.tab !== tab));
      if (lock.holder === tab) this.unlock(name);
    }
  }

  private deliverInOrder(queue: (() => void)[], run: () => void): void {
    queue.push(run);
    this.after(this.lag(), () => queue.shift()!());
  }

  private unlock(name: string): void {
    const lock = this.locks.get(name)!;
    const next = lock.waiting.shift();
    if (!next) return void this.locks.delete(name);
    lock.holder = next.tab;
    next.start();
  }
}

/** A tab that can be closed at any of its calls to the browser. Nothing in a closed tab continues. */
export class Tab {
  readonly view = new Map<string, string>();
  readonly pending = new Map<string, number>();
  /** Writes that have not yet reached the browser. */
  readonly outgoing: (() => void)[] = [];
  /** Writes in the browser that the tab does not see yet. */
  readonly incoming: (() => void)[] = [];
  readonly session = new Map<string, string>();
  isClosed = false;
  calls = 0;
  closesAtCall = Infinity;
  private readonly channels = new Map<string, (event: { readonly data: unknown }) => void>();

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
      clock: { now: () => clock.now(), wait: (ms, signal) => this.afterCall(clock.wait(ms, signal)) },
      fetch: async (input, init) => {
        await this.call();
        return this.afterCall(fetch(input, init));
      },
      locks: hasLocks ? { request: (name, work) => this.browser.lock(this, name, work) } : null,
      localStorage: this.localStorage,
      openBroadcast: hasBroadcast ? (name) => this.openBroadcast(name) : null,
    };
  }

  /** Duplicates the tab, including its `sessionStorage`. */
  duplicate(): Tab {
    const copy = this.browser.openTab();
    for (const [key, value] of this.session) copy.session.set(key, value);
    return copy;
  }

  close(): void {
    this.isClosed = true;
    this.browser.release(this);
  }

  /** Counts a call to the browser. Never resolves if the tab is closed at this call. */
  async call(): Promise<void> {
    this.countCall();
    if (this.isClosed) await new Promise(() => undefined);
  }

  receiveWrite(key: string, value: string | null, isOwn: boolean): void {
    const pending = this.pending.get(key) ?? 0;
    if (isOwn) return void this.pending.set(key, pending - 1);
    // A write of this tab is still pending and replaces this value.
    if (pending > 0) return;
    setOrDelete(this.view, key, value);
  }

  receive(name: string, data: unknown): void {
    if (!this.isClosed) this.channels.get(name)?.({ data });
  }

  private async afterCall<T>(work: Promise<T>): Promise<T> {
    const value = await work;
    await this.call();
    return value;
  }

  private write(key: string, value: string | null): void {
    this.countCall();
    if (!this.isClosed) this.browser.write(this, key, value);
  }

  private countCall(): void {
    if (++this.calls === this.closesAtCall) this.close();
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

function setOrDelete(map: Map<string, string>, key: string, value: string | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}
