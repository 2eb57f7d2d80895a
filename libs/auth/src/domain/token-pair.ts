/** The plain tokens, on their way to the client that asked for them; they are kept nowhere. */
export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A token pair and the session that it opens. */
export interface OpenedSession extends TokenPair {
  readonly sessionId: string;
}
