import type { RequestUser, UserId } from '../adapters/user-store';

/** A user whose call has no session of the library, but either an API key or a token of an earlier system. */
export interface ExternalPrincipal {
  readonly userId: UserId;
  /** The roles of the user. An empty list if roles are not used. */
  readonly roles: readonly string[];
  /** The realm of the user, or null if realms are not used. */
  readonly realm: string | null;
  readonly apiKey?: { readonly id: string; readonly name: string; readonly scopes: readonly string[] };
  /** The token that the option `formerTokens` accepts. */
  readonly formerToken?: { readonly issuedAt: Date };
}

/** An `ExternalPrincipal` that the library has authenticated. Only private fields contain the key or token. */
export class AuthenticatedExternal implements ExternalPrincipal {
  declare readonly apiKey?: NonNullable<ExternalPrincipal['apiKey']>;
  declare readonly formerToken?: NonNullable<ExternalPrincipal['formerToken']>;
  readonly #user: RequestUser | null;
  readonly #verifyAgain: () => Promise<object | null>;

  constructor(
    readonly userId: UserId,
    credential: Pick<ExternalPrincipal, 'apiKey' | 'formerToken'>,
    user: RequestUser | null,
    readonly roles: readonly string[],
    readonly realm: string | null,
    verifyAgain: () => Promise<object | null>,
  ) {
    Object.assign(this, credential);
    this.#user = user;
    this.#verifyAgain = verifyAgain;
  }

  static requestUserOf(this: void, principal: AuthenticatedExternal): RequestUser | null {
    return principal.#user;
  }

  static isStillAccepted(this: void, principal: AuthenticatedExternal): Promise<boolean> {
    return principal.#verifyAgain().then((found) => found !== null);
  }
}
