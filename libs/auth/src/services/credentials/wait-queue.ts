import { Injectable } from '@nestjs/common';
import { tooBusy } from '../../domain/errors';

/** The key of password hashes. */
const HASHING = 'hashing';

/**
 * The queue of everything that a login waits for in this process: bounded, and first in, first out
 * for each key. Password hashes use the threads of files and DNS look-ups; without a bound, a wave of
 * logins would stop those. (ASVS 15.1.3)
 */
@Injectable()
export class WaitQueue {
  private readonly waiting = new Map<string, Set<(isWoken: boolean) => void>>();
  private readonly running = new Map<string, number>();
  private size = 0;

  constructor(private readonly bounds: { readonly concurrent: number; readonly waiting: number }) {}

  /** How many hashes run, and how much waits in all. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running.get(HASHING) ?? 0, waiting: this.size };
  }

  /** Runs a password hash as soon as fewer than `concurrent` run. @throws AuthError `busy` if the queue is full */
  runHash<T>(work: () => Promise<T>): Promise<T> {
    return this.run(HASHING, this.bounds.concurrent, work);
  }

  /** Whether work of this key runs. */
  isRunning(key: string): boolean {
    return this.running.has(key);
  }

  /** Runs work of the same key one after another. @throws AuthError `busy` if the queue is full, or after `timeoutMs` */
  runExclusive<T>(key: string, work: () => Promise<T>, timeoutMs: number): Promise<T> {
    return this.run(key, 1, work, timeoutMs);
  }

  /**
   * Waits for `wake`, until `timeoutMs` have passed. @throws AuthError `busy` if the queue is full
   * @returns whether it was woken
   */
  async wait(key: string, timeoutMs?: number): Promise<boolean> {
    if (this.size >= this.bounds.waiting) throw tooBusy();
    const line = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, line);
    this.size++;
    return new Promise((resolve) => {
      const leave = (isWoken: boolean): void => {
        clearTimeout(timer);
        line.delete(leave);
        if (line.size === 0) this.waiting.delete(key);
        this.size--;
        resolve(isWoken);
      };
      const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs, false);
      line.add(leave);
    });
  }

  /** Wakes whoever has waited longest for this key. @returns whether anyone waited */
  wake(key: string): boolean {
    const [longest] = this.waiting.get(key) ?? [];
    longest?.(true);
    return longest !== undefined;
  }

  private async run<T>(key: string, concurrent: number, work: () => Promise<T>, timeoutMs?: number): Promise<T> {
    const running = this.running.get(key) ?? 0;
    if (running < concurrent) this.running.set(key, running + 1);
    else if (!(await this.wait(key, timeoutMs))) throw tooBusy();
    try {
      return await work();
    } finally {
      // Handed over while it still counts as running, so that a newcomer does not overtake those who wait.
      if (!this.wake(key)) this.leave(key);
    }
  }

  private leave(key: string): void {
    const running = this.running.get(key)! - 1;
    if (running > 0) this.running.set(key, running);
    else this.running.delete(key);
  }
}
