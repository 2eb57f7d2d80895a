// The session in Vue 3.
import { inject, onMounted, onUnmounted, shallowRef, type InjectionKey, type ObjectPlugin, type ShallowRef } from 'vue';
import type { AuthClient } from './client.js';
import { createSessionStore, type SessionOptions, type SessionState, type SessionStore } from './session-store.js';

export type { SessionOptions, SessionState } from './session-store.js';

const KEY: InjectionKey<SessionStore<unknown>> = Symbol('session');

/** Returns the plugin that loads the user for `useSession`. On a server, create one for each request. */
export function sessionPlugin<User>(client: AuthClient, options: SessionOptions<User>): ObjectPlugin {
  const store = createSessionStore(client, options);
  return { install: (app) => void app.provide(KEY, store) };
}

/**
 * Returns the session as a ref. On a server, it is the session of `initialUser`, and nothing is sent.
 * @throws Error without the plugin
 */
export function useSession<User>(): Readonly<ShallowRef<SessionState<User>>> {
  const store = inject(KEY, null) as SessionStore<User> | null;
  if (!store) throw new Error('useSession requires app.use(sessionPlugin(client, options)).');
  const session = shallowRef(store.getState());
  let stop: (() => void) | undefined;
  onMounted(() => {
    stop = store.subscribe((state) => (session.value = state));
    session.value = store.getState();
  });
  onUnmounted(() => stop?.());
  return session;
}
