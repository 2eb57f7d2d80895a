import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { AuthError, invalidLoginTicket, secondFactorRequired, unknownUser } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import type { LoginTicket } from '../../domain/login-ticket';
import { CredentialStore, type StoredUser, type UserId, UserStore } from '../../domain/ports/accounts';
import { type IdentifiedUser, LoginTicketStore, SecondFactor } from '../../domain/ports/login-tickets';
import { assertMethods, type GivenProofs, methodCount, storedProofs } from '../../domain/proofs';
import { newEvent } from '../../domain/session-events';
import { isLoginTicket, type OpenedSession } from '../../domain/tokens';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { SessionOpening } from '../sessions/session-opening';
import { TokenIssuer } from '../sessions/token-issuer';

/**
 * The maximum number of times that `open` reads a ticket. `open` reads the ticket again if the session could not be
 * opened, for example because a parallel attempt has added a method to the ticket.
 */
const MAX_READS = 5;

/** A user whom the first factor has identified, and the state of the user's credentials at that time. */
interface VerifiedFirstFactor {
  readonly user: StoredUser;
  readonly credentialsVersion: number;
  readonly attempt: AttemptKeys | null;
}

/** A valid ticket, and the active user to whom the ticket belongs. */
export interface FoundTicket {
  readonly ticket: LoginTicket;
  readonly user: StoredUser;
}

/** Issues login tickets after the first factor, and opens sessions with them. */
@Injectable()
export class LoginTickets {
  constructor(
    private readonly users: UserStore,
    private readonly credentials: CredentialStore,
    private readonly store: LoginTicketStore,
    private readonly secondFactor: SecondFactor,
    private readonly tokens: TokenIssuer,
    private readonly lifecycle: SessionLifecycle,
    private readonly opening: SessionOpening,
  ) {}

  /**
   * Returns whether the application requires a second factor from the user.
   * @throws AuthError `database_unavailable`
   */
  async isSecondFactorRequired(user: StoredUser, info: ClientInfo): Promise<boolean> {
    return this.secondFactor.isRequired(toIdentifiedUser(user), info);
  }

  /** Issues a ticket after the first factor. Returns null if the credentials version changed in the meantime. */
  async issue(firstFactor: VerifiedFirstFactor, given: GivenProofs, info: ClientInfo): Promise<string | null> {
    const { now, client } = this.lifecycle.operationContext(info);
    const { ticket, digest, expiresAt } = this.tokens.issueLoginTicket(now);
    const userId = String(firstFactor.user.id);
    const { credentialsVersion, attempt } = firstFactor;
    const event = newEvent('first_factor_success', userId, client, now);
    const proofs = storedProofs(given, now);
    const stored = { ...proofs, userId, digest, credentialsVersion, attempt, now, expiresAt, event };
    return (await this.store.create(stored)) ? ticket : null;
  }

  /** Issues a ticket for a user whom the application has identified. @throws AuthError `unknown_user` */
  async issueFor(user: { readonly id: UserId } | UserId, given: GivenProofs, info: ClientInfo): Promise<string> {
    assertMethods(given.methods ?? []);
    const id = userIdOf(user);
    if (id === null) throw unknownUser();
    const credentialsVersion = await this.credentials.versionOf(id);
    const stored = await this.users.findById(id);
    if (!stored?.active) throw unknownUser();
    const ticket = await this.issue({ user: stored, credentialsVersion, attempt: null }, given, info);
    // If no ticket was issued, the credentials version changed in the meantime, for example by `disableUser`.
    return ticket ?? this.issueFor(user, given, info);
  }

  /** Returns a valid ticket and its user. @throws AuthError `invalid_login_ticket` */
  async find(presented: string, info: ClientInfo): Promise<FoundTicket> {
    if (typeof presented !== 'string' || !isLoginTicket(presented)) throw invalidLoginTicket();
    const ticket = await this.store.find(this.tokens.digest(presented), this.lifecycle.now());
    if (!ticket) throw invalidLoginTicket();
    const user = await this.users.findById(this.users.parseId(ticket.userId));
    // The application has disabled the user in its own table. The user's tickets must not become valid again when the
    // application enables the user.
    if (user && !user.active) {
      await this.lifecycle.revokeForInactiveAccount(ticket.userId, 'disabled', this.lifecycle.operationContext(info));
    }
    const version = user?.active ? await this.credentials.versionOf(ticket.userId) : null;
    if (!user || version !== ticket.credentialsVersion) throw invalidLoginTicket();
    return { ticket, user };
  }

  /** Consumes a ticket and opens a session. @throws AuthError with the codes of `AuthService.openSession` */
  async open(presented: string, info: ClientInfo): Promise<OpenedSession> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { ticket, user } = await this.find(presented, info);
      const hasSecond = methodCount(ticket.methods) > 1;
      if (!hasSecond && (await this.isSecondFactorRequired(user, info))) throw secondFactorRequired();
      const { digest, methods, credentialsVersion } = ticket;
      const proof = { credentialsVersion, attempt: null, ticket: { digest, methods } };
      const opened = await this.opening.open(user.id, info, proof, () => ticket);
      if (opened instanceof AuthError) throw opened;
      if (opened) return opened;
    }
    throw invalidLoginTicket();
  }
}

/** Returns the id of an argument that is a user or a user id. Returns null if the argument has no id. */
export function userIdOf(user: { readonly id: UserId } | UserId): UserId | null {
  const id = typeof user === 'object' ? user?.id : user;
  return id ?? null;
}

/** Returns the id and name of a user, which the application receives. */
export function toIdentifiedUser({ id, username }: StoredUser): IdentifiedUser {
  return { id, username };
}
