/** What a client tells. Each carries the id of the session that it is about. */
export interface ClientEvents {
  /** There is a new pair of tokens, from this tab or from another one. */
  refreshed: { readonly sessionId: string };
  /** The user signed out, here or in another tab. */
  signedOut: { readonly sessionId: string };
  /** The server does not take the session any more: it was ended elsewhere, or its time is over. */
  signedOutElsewhere: { readonly sessionId: string };
  /**
   * The session may live, but its next tokens were lost on the way and asking for them again could raise the alarm: the
   * user has to sign in.
   */
  signInNeeded: { readonly sessionId: string };
}

/** What a client tells of. */
export type ClientEventName = keyof ClientEvents;
/** How a session comes to its end in this browser. */
export type EndEvent = Exclude<ClientEventName, 'refreshed'>;
type Listener<Name extends ClientEventName> = (event: ClientEvents[Name]) => void;

/** Tells each listener; one that throws keeps nobody else from hearing. */
export class EventHub {
  private readonly listeners: { readonly [Name in ClientEventName]: Set<Listener<Name>> } = {
    refreshed: new Set(),
    signedOut: new Set(),
    signedOutElsewhere: new Set(),
    signInNeeded: new Set(),
  };

  on<Name extends ClientEventName>(name: Name, listener: Listener<Name>): () => void {
    const ofName: Set<Listener<Name>> = this.listeners[name];
    // Wrapped, so that a listener that was given twice is called, and taken off, twice.
    const one: Listener<Name> = (event) => listener(event);
    ofName.add(one);
    return () => void ofName.delete(one);
  }

  tell<Name extends ClientEventName>(name: Name, event: ClientEvents[Name]): void {
    const ofName: Set<Listener<Name>> = this.listeners[name];
    for (const listener of [...ofName]) {
      try {
        listener(event);
      } catch (error) {
        // As an error of the page, in its own turn.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
