/**
 * The events of a client. Each event has the id of its session. The id is empty if your application
 * opened the session itself, with cookies, and `isSignedIn` has not yet found the session.
 */
export interface ClientEvents {
  /** The session received new tokens, in this tab or in another tab. */
  refreshed: { readonly sessionId: string };
  /**
   * Another session has replaced the session of this tab, or a session begins: after a login in this tab or in another
   * tab. `sessionId` is the new session. Another user may have signed in, so load the data of the user again.
   */
  sessionChanged: { readonly sessionId: string };
  /** The user signed out, in this tab or in another tab. */
  signedOut: { readonly sessionId: string };
  /** The server refuses the session, for example because it was revoked or has expired. */
  signedOutElsewhere: { readonly sessionId: string };
  /**
   * The outcome of a refresh is unknown, and repeating the refresh could count as reuse. The user
   * must sign in again.
   */
  signInNeeded: { readonly sessionId: string };
}

/** The name of an event. */
export type ClientEventName = keyof ClientEvents;
/** How the session of a client ended. The reason is the name of the event. */
export type SessionEndReason = Exclude<ClientEventName, 'refreshed' | 'sessionChanged'>;

/** The end of a client's session. */
export interface SessionEnd {
  readonly sessionId: string;
  readonly reason: SessionEndReason;
}

export const SESSION_ENDS: readonly SessionEndReason[] = ['signedOut', 'signedOutElsewhere', 'signInNeeded'];

/** Emits the events of a client to its listeners. */
export class EventHub {
  readonly #subscriptions = new Set<{ name: string; listener: (event: { sessionId: string }) => void }>();

  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    const subscription = { name, listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /** Calls the listeners. Returns whether there is one. */
  emit(name: ClientEventName, sessionId: string): boolean {
    const called = [...this.#subscriptions].filter((one) => one.name === name);
    for (const { listener } of called) {
      try {
        listener({ sessionId });
      } catch (error) {
        // Throws the error as an uncaught error, after the other listeners have been called.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    return called.length > 0;
  }
}
