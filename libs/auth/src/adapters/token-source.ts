import type { ClientInfo } from './second-factor';

/** A call over any transport: the part of Nest's `ExecutionContext` from which a token is read. */
export interface TransportCall {
  /** Returns the transport: `http`, `graphql`, `ws`, `rpc`, or the name of another transport. */
  getType<Name extends string>(): Name;
  /** Returns an argument of the handler. Over HTTP, argument 0 is the request. */
  getArgByIndex<Argument = unknown>(index: number): Argument;
}

/** An access token as presented, and the client that presented it. */
export interface PresentedToken {
  readonly accessToken: string;
  /** Default: the client of the HTTP request, if the call has one. */
  readonly client?: ClientInfo;
}

/**
 * Finds the access token of a call over any transport, also to the library's routes. Set the option `tokenSource` to a
 * class that extends this one, or to an instance.
 */
export abstract class TokenSource {
  /**
   * Returns the token of a call, or null to read it from the usual places. An exception is logged, and refuses the call
   * with 401. If the token also occurs in the `Cookie` header, the cross-site check applies, with any option `cookies`.
   */
  abstract find(call: TransportCall): PresentedToken | null | Promise<PresentedToken | null>;
}
