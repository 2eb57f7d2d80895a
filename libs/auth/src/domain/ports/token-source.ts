import type { ClientInfo } from '../client';

/** A call of a handler, as Nest tells of it: an `ExecutionContext` is one. */
export interface TransportCall {
  /** `graphql`, `ws`, `rpc`, or what another transport calls itself. */
  getType<Name extends string>(): Name;
  /** What the transport hands to the handler. */
  getArgByIndex<Argument = unknown>(index: number): Argument;
}

/** An access token as it came, and where it came from. */
export interface PresentedToken {
  readonly accessToken: string;
  readonly client?: ClientInfo;
}

/**
 * Says where the access token of a call stands that came neither as an HTTP request nor with the header of one: in the
 * metadata of a message, say. HTTP requests are not asked about: there a token goes into `Authorization`, and nowhere else.
 */
export abstract class TokenSource {
  /** The token; null where this source knows none, and then the usual place of the transport is looked at. */
  abstract find(call: TransportCall): PresentedToken | null | Promise<PresentedToken | null>;
}
