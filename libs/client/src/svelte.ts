// The session as a Svelte store. It imports nothing of Svelte, because a store is an object with a method `subscribe`.
import type { AuthClient } from './client.js';
import { createSessionStore, type SessionOptions, type SessionState } from './session-store.js';

export type { SessionOptions, SessionState } from './session-store.js';

/** A readable store of Svelte. */
export interface SessionReadable<User> {
  /** Calls `run` now and after each change. @returns a function that stops */
  subscribe(run: (state: SessionState<User>) => void): () => void;
}

/**
 * Returns the session as a readable store, for `$session`. On a server, it is the session of `initialUser`, and nothing
 * is sent: create one for each request.
 */
export function createSession<User>(client: AuthClient, options: SessionOptions<User>): SessionReadable<User> {
  const store = createSessionStore(client, options);
  return {
    subscribe(run) {
      const stop = 'document' in globalThis ? store.subscribe(run) : () => undefined;
      run(store.getState());
      return stop;
    },
  };
}
