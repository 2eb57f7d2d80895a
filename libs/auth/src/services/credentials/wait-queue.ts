import { Injectable } from '@nestjs/common';
import { tooBusy } from '../../domain/errors';

/** The key under which password hashes wait. */
const HASHING = 'hashing';

/** The client that a password is hashed for. */
export interface HashOrigin {
  /** The network of the client. All hashes without a known network share the limit of one network. Default: unknown. */
  readonly network?: string;
  /** Whether the caller has already entered the queue. If not, `runHash` does. Default: false. */
  readonly hasEntered?: boolean;
}

/** The callers that wait for one key, by network: functions that end the wait. */
type WaitersByNetwork = Map<string, Set<(isWoken: boolean) => void>>;

/**
 * The queue for everything that logins wait for in this process. Its capacity is bounded, and one network gets at most half
 * of it. The callers that wait for the same key are served first in, first out within a network, and the networks in turn.
 *
 * Password hashes run on libuv's thread pool, which also serves files and DNS look-ups: without a bound, many logins would
 * block those, and without turns one network would delay all others. (ASVS 15.1.3)
 */
@Injectable()
export class WaitQueue {
  private readonly waiting = new Map<string, WaitersByNetwork>();
  private readonly running = new Map<string, number>();
  /** The number of callers inside `enter`, by network. */
  private readonly entered = new Map<string, number>();
  private readonly capacity: number;
  private enteredCount = 0;
  private waitingCount = 0;

  constructor(private readonly bounds: { readonly concurrent: number; readonly waiting: number }) {
    this.capacity = bounds.concurrent + bounds.waiting;
  }

  /** The number of running hashes, and of all waiting callers. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.get(HASHING) ?? 0, waiting: this.waitingCount };
  }

  /**
   * Runs work that may wait in this queue any number of times. It must not call `enter` again.
   * @param network the network of the client; empty if unknown. Unknown networks share the limit of one
   * @throws AuthError `busy` if the queue is at capacity, or if the network has half of it
   */
  async enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    const own = this.entered.get(network) ?? 0;
    if (this.enteredCount >= this.capacity || own >= Math.ceil(this.capacity / 2)) throw tooBusy();
    this.enteredCount++;
    this.entered.set(network, own + 1);
    try {
      return await work();
    } finally {
      this.enteredCount--;
      decrement(this.entered, network);
    }
  }

  /**
   * Runs a password hash as soon as fewer than `concurrent` hashes are running.
   * @throws AuthError `busy`, like `enter`
   */
  runHash<T>(work: () => Promise<T>, { network = '', hasEntered = false }: HashOrigin = {}): Promise<T> {
    const run = (): Promise<T> => this.run(HASHING, this.bounds.concurrent, work, { network });
    return hasEntered ? run() : this.enter(network, run);
  }

  /** Whether work with this key is running. */
  isRunning(key: string): boolean {
    return this.running.has(key);
  }

  /**
   * Runs work with the same key one after another. Call it within `enter`.
   * @throws AuthError `busy` after `timeoutMs`
   */
  runExclusive<T>(key: string, work: () => Promise<T>, timeoutMs: number): Promise<T> {
    return this.run(key, 1, work, { timeoutMs });
  }

  /**
   * Waits for `wake`. Call it within `enter`.
   * @param timeoutMs how long to wait. Default: without limit
   * @returns false after the timeout
   */
  async wait(key: string, timeoutMs?: number, network = ''): Promise<boolean> {
    const waiters = this.waiting.get(key) ?? (new Map() as WaitersByNetwork);
    const own = waiters.get(network) ?? new Set();
    this.waiting.set(key, waiters.set(network, own));
    this.waitingCount++;
    return new Promise((resolve) => {
      const leave = (isWoken: boolean): void => {
        clearTimeout(timer);
        own.delete(leave);
        if (own.size === 0) waiters.delete(network);
        if (waiters.size === 0) this.waiting.delete(key);
        this.waitingCount--;
        resolve(isWoken);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs, false);
      own.add(leave);
    });
  }

  /**
   * Wakes one caller that waits for this key: of the next network, the one that has waited longest.
   * @returns false if nothing was waiting
   */
  wake(key: string): boolean {
    const waiters = this.waiting.get(key);
    const [next] = waiters ?? [];
    if (!waiters || !next) return false;
    const [network, own] = next;
    const [longest] = own;
    longest!(true);
    // To the end of the round.
    if (own.size > 0 && waiters.delete(network)) waiters.set(network, own);
    return true;
  }

  private async run<T>(
    key: string,
    concurrent: number,
    work: () => Promise<T>,
    { timeoutMs, network }: { readonly timeoutMs?: number; readonly network?: string | undefined },
  ): Promise<T> {
    const running = this.running.get(key) ?? 0;
    if (running < concurrent) this.running.set(key, running + 1);
    else if (!(await this.wait(key, timeoutMs, network))) throw tooBusy();
    try {
      return await work();
    } finally {
      // The next caller takes over while this one still counts as running, so that no newcomer overtakes it.
      if (!this.wake(key)) decrement(this.running, key);
    }
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = counts.get(key)! - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
