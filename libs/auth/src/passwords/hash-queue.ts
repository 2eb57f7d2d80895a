import { Injectable } from '@nestjs/common';
import { tooBusy } from '../base/errors';

/** The key under which password hashes wait. */
const HASHING = 'hashing';

/** The client that a password is hashed for. */
export interface HashOrigin {
  /** The network of the client. All hashes without a network share the limit of one network. Default: unknown. */
  readonly network?: string;
  /** Whether the caller is already inside `enter`. If not, `runHash` enters the queue. Default: false. */
  readonly hasEntered?: boolean;
}

/** The callbacks that end the waits for one key, by network. */
type WaitersByNetwork = Map<string, Set<(isWoken: boolean) => void>>;

/**
 * Queues the calls of this process that wait for a password hash or an attempt slot. The capacity is bounded, and
 * one network can use at most half of it. Among the callers that wait for a hash, the networks take turns. Within one
 * network, and for other keys, callers are served in the order of arrival.
 *
 * Password hashes usually run on libuv's thread pool, which also handles file access and DNS lookups. Without a bound,
 * many parallel hashes would delay file access and DNS lookups. Without turns, one network could delay all others.
 * (ASVS 15.1.3)
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

  /** The number of running hashes, and the number of waiting callers of all keys. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.get(HASHING) ?? 0, waiting: this.waitingCount };
  }

  /**
   * Runs work that may wait in this queue any number of times. The work must not call `enter` again.
   * @param network the client's network, or an empty string if unknown. All clients in unknown networks share the
   *   limit of one network
   * @throws AuthError `busy` if the queue is at capacity, or if the network already uses half of the capacity
   */
  async enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    const ofNetwork = this.entered.get(network) ?? 0;
    if (this.enteredCount >= this.capacity || ofNetwork >= Math.floor(this.capacity / 2)) throw tooBusy();
    this.enteredCount++;
    this.entered.set(network, ofNetwork + 1);
    try {
      return await work();
    } finally {
      this.enteredCount--;
      decrement(this.entered, network);
    }
  }

  /**
   * Runs a password hash, after a wait if `concurrent` hashes are already running.
   * @throws AuthError `busy` under the same conditions as `enter`, unless `hasEntered` is true
   */
  runHash<T>(work: () => Promise<T>, { network = '', hasEntered = false }: HashOrigin = {}): Promise<T> {
    const run = (): Promise<T> => this.run(HASHING, this.bounds.concurrent, work, { network });
    return hasEntered ? run() : this.enter(network, run);
  }

  /** Returns whether work with this key is running. */
  isRunning(key: string): boolean {
    return this.running.has(key);
  }

  /**
   * Runs work while no other work with the same key is running. Call this method within `enter`.
   * @throws AuthError `busy` if the work cannot start within `timeoutMs`
   */
  runExclusive<T>(key: string, work: () => Promise<T>, timeoutMs: number): Promise<T> {
    return this.run(key, 1, work, { timeoutMs });
  }

  /**
   * Waits until `wake` selects this caller among those that wait for the key. Call this method within `enter`.
   * @param timeoutMs the maximum wait, in milliseconds. Default: no limit
   * @returns true if `wake` ended the wait, or false after the timeout
   */
  async wait(key: string, timeoutMs?: number, network = ''): Promise<boolean> {
    const waiters = this.waiting.get(key) ?? (new Map() as WaitersByNetwork);
    const ofNetwork = waiters.get(network) ?? new Set();
    this.waiting.set(key, waiters.set(network, ofNetwork));
    this.waitingCount++;
    return new Promise((resolve) => {
      const leave = (isWoken: boolean): void => {
        clearTimeout(timer);
        ofNetwork.delete(leave);
        if (ofNetwork.size === 0) waiters.delete(network);
        if (waiters.size === 0) this.waiting.delete(key);
        this.waitingCount--;
        resolve(isWoken);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs, false);
      ofNetwork.add(leave);
    });
  }

  /**
   * Wakes one caller that waits for this key: the longest-waiting caller from the network that is next in turn.
   * @returns whether a caller was waiting
   */
  wake(key: string): boolean {
    const waiters = this.waiting.get(key);
    const [next] = waiters ?? [];
    if (!waiters || !next) return false;
    const [network, ofNetwork] = next;
    const [longestWaiting] = ofNetwork;
    longestWaiting!(true);
    // Moves the network to the end of the map, so that all other networks are served before its next turn.
    if (ofNetwork.size > 0 && waiters.delete(network)) waiters.set(network, ofNetwork);
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
      // The woken caller takes over this caller's slot, so that no new caller can overtake it.
      if (!this.wake(key)) decrement(this.running, key);
    }
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = counts.get(key)! - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
