import { Injectable } from '@nestjs/common';
import { tooBusy } from '../base/errors';

/** The client that a password is hashed for. */
export interface HashOrigin {
  /** The network of the client. All hashes without a network share the limit of one network. Default: unknown. */
  readonly network?: string;
  /** Whether the caller is already inside `enter`. If not, `runHash` enters the queue. Default: false. */
  readonly hasEntered?: boolean;
}

/**
 * Queues the password hashes of this process. The capacity is bounded, and one network can use at most half of it.
 * Among the hashes that wait, the networks take turns. Password hashes usually run on libuv's thread pool: without a
 * bound, many parallel hashes would delay file access and DNS lookups. (ASVS 15.1.3)
 */
@Injectable()
export class HashQueue {
  /** The callbacks that start the hashes that wait, by network. The first network is next. */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** The number of callers inside `enter`, by network. */
  private readonly entered = new Map<string, number>();
  private readonly capacity: number;
  private enteredCount = 0;
  private running = 0;

  constructor(private readonly bounds: { readonly concurrent: number; readonly waiting: number }) {
    this.capacity = bounds.concurrent + bounds.waiting;
  }

  /** The numbers of running and of waiting hashes. */
  get load(): { readonly running: number; readonly waiting: number } {
    const waiting = [...this.waiting.values()].reduce((sum, { length }) => sum + length, 0);
    return { running: this.running, waiting };
  }

  /**
   * Runs work that may hash any number of passwords. The work must not call `enter` again.
   * @param network the client's network. All clients in unknown networks, `''`, share the limit of one network
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
      const left = this.entered.get(network)! - 1;
      if (left > 0) this.entered.set(network, left);
      else this.entered.delete(network);
    }
  }

  /**
   * Runs a password hash, after a wait if `concurrent` hashes are already running.
   * @throws AuthError `busy` under the same conditions as `enter`, unless `hasEntered` is true
   */
  async runHash<T>(work: () => Promise<T>, { network = '', hasEntered = false }: HashOrigin = {}): Promise<T> {
    if (!hasEntered) return this.enter(network, () => this.runHash(work, { network, hasEntered: true }));
    if (this.running < this.bounds.concurrent) this.running++;
    else await new Promise<void>((start) => this.waiting.set(network, [...(this.waiting.get(network) ?? []), start]));
    try {
      return await work();
    } finally {
      // The next hash takes over the slot of this one, so that no new caller can overtake it.
      if (!this.startNext()) this.running--;
    }
  }

  /** Starts the hash that has waited longest in the network that is next in turn. Returns false if none waits. */
  private startNext(): boolean {
    const [next] = this.waiting;
    if (!next) return false;
    const [network, [start, ...others]] = next;
    // Moves the network to the end of the map, so that all other networks are served before its next turn.
    this.waiting.delete(network);
    if (others.length > 0) this.waiting.set(network, others);
    start!();
    return true;
  }
}
