/** Shares a call among all who need it while it is in flight, so that a client's repeated requests cause one call. */
export class InFlight<T> {
  private readonly calls = new Map<unknown, Promise<T>>();

  /** Returns the call in flight with this key, or else starts one. */
  run(key: unknown, start: () => Promise<T>): Promise<T> {
    const call = this.calls.get(key) ?? start().finally(() => this.calls.delete(key));
    this.calls.set(key, call);
    return call;
  }
}
