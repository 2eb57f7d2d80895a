/**
 * The events of a client. Each carries the id of its session, which is empty where the application has opened a
 * session with cookies itself.
 */
export interface ClientEvents {
  /** There is a new token pair, from this tab or from another one. */
  refreshed: { readonly sessionId: string };
  /** The user signed out, here or in another tab. */
  signedOut: { readonly sessionId: string };
  /** The server refuses the session: it was revoked elsewhere, or it has expired. */
  signedOutElsewhere: { readonly sessionId: string };
  /** The session may be active, but its next tokens were lost and must not be requested again: sign in again. */
  signInNeeded: { readonly sessionId: string };
}

/** The name of an event. */
export type ClientEventName = keyof ClientEvents;
/** How a session ends in this browser: see the events of these names. */
export type SessionEndReason = Exclude<ClientEventName, 'refreshed'>;

/** The end of a session in this browser. */
export interface SessionEnd {
  readonly sessionId: string;
  readonly reason: SessionEndReason;
}

export const SESSION_ENDS: readonly SessionEndReason[] = ['signedOut', 'signedOutElsewhere', 'signInNeeded'];

export class EventHub {
  readonly #subscriptions = new Set<{ name: string; listener: (event: { sessionId: string }) => void }>();

  on<Name extends ClientEventName>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    const subscription = { name, listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  emit(name: ClientEventName, sessionId: string): void {
    for (const { name: subscribed, listener } of [...this.#subscriptions]) {
      try {
        if (subscribed === name) listener({ sessionId });
      } catch (error) {
        // Becomes an uncaught error of the page, and the other listeners are still called.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
