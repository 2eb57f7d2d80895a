import type { AuthClient } from './client.js';
import { isSignedOut, statusOf, unwrap } from './errors.js';
import type { SessionEndReason } from './events.js';
import { refusalOf } from './requests.js';

/** The session that a page shows. It never changes: each change is a new object. */
export type SessionState<User> = {
  /** How the session ended, or null if it has not ended or this page never showed it. */
  readonly reason: SessionEndReason | null;
  /** Why the user could not be loaded, or null. Usually a `ClientError`. With `signedIn`, `user` is the last known user. */
  readonly error: unknown;
  /** Loads the user again. Never rejects: see `error`. */
  readonly reload: () => Promise<void>;
} & (
  | { readonly status: 'signedIn'; readonly user: User }
  | { readonly status: 'loading'; readonly user: null }
  | { readonly status: 'signedOut'; readonly user: null }
  // The first load failed, so it is not known whether somebody is signed in.
  | { readonly status: 'failed'; readonly user: null }
);

/** Where the user of a session comes from. */
export interface SessionOptions<User> {
  /**
   * The URL of a route that returns the user as JSON, such as `/me`, or a function that returns the user. Null, an empty
   * body, a 401 or the error code `signed_out` means that nobody is signed in.
   */
  readonly loadUser: string | (() => Promise<User | null>);
  /**
   * The user that a server has loaded, or null if nobody is signed in. The page does not load it again until it becomes
   * visible. Default: the page loads the user.
   */
  readonly initialUser?: User | null | undefined;
}

/** The state of a session for the bindings of frameworks. Sends nothing until the first subscription. */
export interface SessionStore<User> {
  readonly getState: () => SessionState<User>;
  /** Returns the state that the server has rendered. */
  readonly getInitialState: () => SessionState<User>;
  /** Calls the listener after each change. @returns a function that removes the listener */
  readonly subscribe: (listener: (state: SessionState<User>) => void) => () => void;
}

export function createSessionStore<User>(
  client: AuthClient,
  { loadUser, initialUser }: SessionOptions<User>,
): SessionStore<User> {
  const listeners = new Set<(state: SessionState<User>) => void>();
  /** The number of the latest load or change. The answers of earlier loads are late. */
  let latest = 0;
  /** The session when the last listener left, or undefined before the first one. */
  let left: string | null | undefined;
  const stateOf = (user: User | null | undefined, reason: SessionEndReason | null = null): SessionState<User> => {
    const others = { reason, error: null, reload };
    if (user === undefined) return { ...others, status: 'loading', user: null };
    return user === null ? { ...others, status: 'signedOut', user } : { ...others, status: 'signedIn', user };
  };
  const initial = stateOf(initialUser);
  let state = initial;

  function set(next: SessionState<User>): void {
    latest++;
    state = next;
    listeners.forEach((listener) => listener(next));
  }

  async function reload(): Promise<void> {
    const own = ++latest;
    const answer = await read().then(
      (user) => ({ user: user ?? null }),
      (thrown: unknown) => {
        const error = unwrap(thrown);
        return isSignedOut(error) || statusOf(error) === 401 ? { user: null } : { error };
      },
    );
    if (own !== latest) return;
    if ('error' in answer) {
      const { error } = answer;
      return set(state.status === 'loading' ? { ...state, status: 'failed', error } : { ...state, error });
    }
    const wasSignedIn = state.status === 'signedIn';
    set(stateOf(answer.user, answer.user !== null ? null : wasSignedIn ? 'signedOutElsewhere' : state.reason));
  }

  async function read(): Promise<User | null> {
    if (typeof loadUser !== 'string') return loadUser();
    const response = await client.fetch(loadUser);
    if (!response.ok) throw await refusalOf(response);
    // A route that returns null sends no body.
    return JSON.parse((await response.text()) || 'null') as User | null;
  }

  /** Receives the changes of the session until the last listener leaves. */
  function attach(): () => void {
    const page = (globalThis as { document?: Page }).document;
    // A signed-out page receives `sessionChanged`, and need not ask.
    const onVisible = (): void =>
      void (page?.visibilityState === 'visible' && state.status !== 'signedOut' && reload());
    const stops = [
      client.onSessionEnd(({ reason }) => set(stateOf(null, reason))),
      // The former user is not shown meanwhile, because requests already belong to the new user.
      client.on('sessionChanged', () => (set(stateOf(undefined)), void reload())),
    ];
    page?.addEventListener('visibilitychange', onVisible);
    if (left !== undefined && left !== client.sessionId) set(stateOf(undefined));
    if (left !== undefined || initialUser === undefined) void reload();
    return () => {
      left = client.sessionId;
      latest++;
      stops.forEach((stop) => stop());
      page?.removeEventListener('visibilitychange', onVisible);
    };
  }

  let detach: (() => void) | undefined;
  return {
    getState: () => state,
    getInitialState: () => initial,
    subscribe(listener) {
      detach ??= attach();
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        // If another component replaces the last one, its listener is added before the microtask.
        queueMicrotask(() => {
          if (listeners.size) return;
          detach?.();
          detach = undefined;
        });
      };
    },
  };
}

/** The part of `document` that the store uses. */
interface Page {
  readonly visibilityState: string;
  addEventListener(name: string, listener: () => void): void;
  removeEventListener(name: string, listener: () => void): void;
}
