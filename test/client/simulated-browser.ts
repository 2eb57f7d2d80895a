import type { ClientClock, ClientEnvironment, WebStorage } from 'nestjs-session-auth-client';

export interface BrowserTraits {
  readonly fetch: ClientEnvironment['fetch'];
  readonly clock: ClientClock;
  /** Calls `run` after this many milliseconds, or immediately for 0. */
  readonly after?: (milliseconds: number, run: () => void) => void;
  /** Returns the next delay of a write or message in milliseconds. */
  readonly lag?: () => number;
  readonly hasLocks?: boolean;
  readonly hasBroadcast?: boolean;
}

interface LockRequest {
  readonly tab: Tab;
  start(): void;
}

/** A browser with tabs of one origin, which share state. Each tab has its own view of that state. */
export class Browser {
  readonly tabs: Tab[] = [];
  /** The contents of `localStorage` once every write has arrived. */
  readonly stored = new Map<string, string>();
  /** The requests for each lock. The first one holds the lock. */
  private readonly locks = new Map<string, LockRequest[]>();
  private readonly after: (milliseconds: number, run: () => void) => void;
  private readonly lag: () => number;

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
    const own = await new Promise<LockRequest>((resolve) => {
      const request = { tab, start: () => resolve(request) };
      const others = this.locks.get(name) ?? [];
      this.locks.set(name, [...others, request]);
      if (others.length === 0) request.start();
    });
    await tab.call();
    try {
      return await work();
    } finally {
      this.removeRequests((one) => one === own);
    }
  }

  release(tab: Tab): void {
    this.removeRequests((one) => one.tab === tab);
  }

  private deliverInOrder(queue: (() => void)[], run: () => void): void {
    queue.push(run);
    this.after(this.lag(), () => queue.shift()!());
  }

  private removeRequests(isRemoved: (request: LockRequest) => boolean): void {
    for (const [name, requests] of this.locks) {
      const left = requests.filter((one) => !isRemoved(one));
      this.locks.set(name, left);
      if (left[0] !== requests[0]) left[0]?.start();
    }
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
