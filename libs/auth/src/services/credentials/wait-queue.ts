import { Injectable } from '@nestjs/common';
import { tooBusy } from '../../domain/errors';

/** The key of password hashes. */
const HASHING = 'hashing';

/** For which client a password is hashed. */
export interface HashOrigin {
  /** Where the work came from. Hashes of no known network share what one network may take. */
  readonly network?: string;
  /** Whether the work has entered the queue; otherwise its hash enters by itself. */
  readonly hasEntered?: boolean;
}

/** What waits for one key, by the network that it came from. */
type Line = Map<string, Set<(isWoken: boolean) => void>>;

/**
 * The queue of everything that a login waits for in this process: bounded in all, by half for each
 * network, and first in, first out for each key, where networks take turns. Password hashes use the
 * threads of files and DNS look-ups; without a bound, a wave of logins would stop those, and without
 * turns one network would delay all others. (ASVS 15.1.3)
 */
@Injectable()
export class WaitQueue {
  private readonly waiting = new Map<string, Line>();
  private readonly running = new Map<string, number>();
  /** What has entered, by its network. */
  private readonly entered = new Map<string, number>();
  private readonly capacity: number;
  private total = 0;
  private size = 0;

  constructor(private readonly bounds: { readonly concurrent: number; readonly waiting: number }) {
    this.capacity = bounds.concurrent + bounds.waiting;
  }

  /** How many hashes run, and how much waits in all. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.get(HASHING) ?? 0, waiting: this.size };
  }

  /**
   * Runs work that may wait here any number of times: what it calls is given the network, not entered again.
   * @param network where it came from; empty if unknown, which is bounded like one network
   * @throws AuthError `busy` if the queue is at capacity, or half of it is taken by the network
   */
  async enter<T>(network: string, work: () => Promise<T>): Promise<T> {
    const own = this.entered.get(network) ?? 0;
    if (this.total >= this.capacity || own >= Math.ceil(this.capacity / 2)) throw tooBusy();
    this.total++;
    this.entered.set(network, own + 1);
    try {
      return await work();
    } finally {
      this.total--;
      decrement(this.entered, network);
    }
  }

  /**
   * Runs a password hash as soon as fewer than `concurrent` run.
   * @throws AuthError `busy`, as `enter`
   */
  runHash<T>(work: () => Promise<T>, { network = '', hasEntered = false }: HashOrigin = {}): Promise<T> {
    const run = (): Promise<T> => this.run(HASHING, this.bounds.concurrent, work, { network });
    return hasEntered ? run() : this.enter(network, run);
  }

  /** Whether work of this key runs. */
  isRunning(key: string): boolean {
    return this.running.has(key);
  }

  /**
   * Runs work of the same key one after another, within `enter`.
   * @throws AuthError `busy` after `timeoutMs`
   */
  runExclusive<T>(key: string, work: () => Promise<T>, timeoutMs: number): Promise<T> {
    return this.run(key, 1, work, { timeoutMs });
  }

  /**
   * Waits for `wake`, until `timeoutMs` have passed, within `enter`.
   * @returns whether it was woken
   */
  async wait(key: string, timeoutMs?: number, network = ''): Promise<boolean> {
    const line = this.waiting.get(key) ?? (new Map() as Line);
    const own = line.get(network) ?? new Set();
    this.waiting.set(key, line.set(network, own));
    this.size++;
    return new Promise((resolve) => {
      const leave = (isWoken: boolean): void => {
        clearTimeout(timer);
        own.delete(leave);
        if (own.size === 0) line.delete(network);
        if (line.size === 0) this.waiting.delete(key);
        this.size--;
        resolve(isWoken);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs, false);
      own.add(leave);
    });
  }

  /**
   * Wakes whoever has waited longest for this key, of the network whose turn it is.
   * @returns whether anyone waited
   */
  wake(key: string): boolean {
    const line = this.waiting.get(key);
    const [turn] = line ?? [];
    if (!line || !turn) return false;
    const [network, own] = turn;
    const [longest] = own;
    longest!(true);
    // Behind the other networks.
    if (own.size > 0 && line.delete(network)) line.set(network, own);
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
      // Handed over while it still counts as running, so that a newcomer does not overtake those who wait.
      if (!this.wake(key)) decrement(this.running, key);
    }
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = counts.get(key)! - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
