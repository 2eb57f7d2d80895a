import { AuthError } from '../domain/errors';

/** Those who wait for the same thing, a bounded number in all. They are called one after another. */
export class Crowd {
  private readonly waiting = new Map<string, (() => void)[]>();
  private size = 0;

  constructor(private readonly most: number) {}

  /** Until it is called, or the time is over. @throws AuthError `busy` at once where too many wait already */
  async wait(key: string, milliseconds: number): Promise<void> {
    if (this.size >= this.most) throw new AuthError('busy', 'Too many logins are being verified.');
    this.size++;
    let timer: NodeJS.Timeout | undefined;
    const called = new Promise<void>((go) => {
      timer = setTimeout(() => {
        this.leave(key, go);
        go();
      }, milliseconds);
      const others = this.waiting.get(key);
      if (others) others.push(go);
      else this.waiting.set(key, [go]);
    });
    await called;
    clearTimeout(timer);
    this.size--;
  }

  /** Calls the one who has waited longest for this. */
  next(key: string): void {
    const go = this.waiting.get(key)?.[0];
    if (!go) return;
    this.leave(key, go);
    go();
  }

  private leave(key: string, go: () => void): void {
    const left = (this.waiting.get(key) ?? []).filter((one) => one !== go);
    if (left.length > 0) this.waiting.set(key, left);
    else this.waiting.delete(key);
  }
}
