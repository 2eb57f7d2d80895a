import type { ClientInfo } from './second-factor';

/** A call over a transport other than HTTP: the part of Nest's `ExecutionContext` from which a token is read. */
export interface TransportCall {
  /** Returns the transport: `graphql`, `ws`, `rpc`, or the name of another transport. */
  getType<Name extends string>(): Name;
  /** Returns an argument of the handler. */
  getArgByIndex<Argument = unknown>(index: number): Argument;
}

/** An access token as presented, and the client that presented it. */
export interface PresentedToken {
  readonly accessToken: string;
  readonly client?: ClientInfo;
}

/**
 * Finds the access token of a call over a transport other than HTTP, for example in the metadata of a message. Set
 * the option `tokenSource` to a class that extends this one, or to an instance. The option does not apply to HTTP
 * controllers.
 */
export abstract class TokenSource {
  /**
   * Returns the token of a call. If the result is null, the library reads the token from the
   * transport's default location.
   */
  abstract find(call: TransportCall): PresentedToken | null | Promise<PresentedToken | null>;
}
