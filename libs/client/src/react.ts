'use client';
// The session in React 18 and later.
import {
  createContext,
  createElement,
  useContext,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react';
import type { AuthClient } from './client.js';
import { createSessionStore, type SessionOptions, type SessionState, type SessionStore } from './session-store.js';

export type { SessionOptions, SessionState } from './session-store.js';

/** The properties of `SessionProvider`. Only their first values are used. */
export interface SessionProviderProps<User> extends SessionOptions<User> {
  readonly client: AuthClient;
  readonly children?: ReactNode;
}

const StoreContext = createContext<SessionStore<unknown> | null>(null);

/** Loads the user for `useSession` in the components below. On a server, it renders `initialUser` and sends nothing. */
export function SessionProvider<User>({ client, children, ...options }: SessionProviderProps<User>): ReactElement {
  const [store] = useState(() => createSessionStore(client, options));
  return createElement(StoreContext.Provider, { value: store }, children);
}

/** Returns the session, and renders the component again when it changes. @throws Error without a `SessionProvider` */
export function useSession<User>(): SessionState<User> {
  const store = useContext(StoreContext) as SessionStore<User> | null;
  if (!store) throw new Error('useSession requires a <SessionProvider> above the component.');
  return useSyncExternalStore(store.subscribe, store.getState, store.getInitialState);
}
