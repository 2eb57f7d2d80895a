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

/** How often a ticket is read again because a parallel attempt added a method to it. */
const MAX_READS = 5;

/** A user whom a first step has identified, and what it depended on. */
interface FirstStep {
  readonly user: StoredUser;
  readonly credentialsVersion: number;
  readonly attempt: AttemptKeys | null;
}

/** A valid ticket of an active user. */
export interface FoundTicket {
  readonly ticket: LoginTicket;
  readonly user: StoredUser;
}

/** Logins in more than one step: tickets for the first one, and sessions that are opened with them. */
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

  /** Whether the user gets a session by a second factor only. @throws AuthError `database_unavailable` */
  async isSecondFactorRequired(user: StoredUser, info: ClientInfo): Promise<boolean> {
    return this.secondFactor.isRequired(identified(user), info);
  }

  /** Issues a ticket for a first step; null where the user's credentials changed meanwhile. */
  async issue(step: FirstStep, given: GivenProofs, info: ClientInfo): Promise<string | null> {
    const { now, client } = this.lifecycle.operationContext(info);
    const { ticket, digest, expiresAt } = this.tokens.issueLoginTicket(now);
    const userId = String(step.user.id);
    const { credentialsVersion, attempt } = step;
    const event = newEvent('first_factor_success', userId, client, now);
    const proofs = storedProofs(given, now);
    const stored = { ...proofs, userId, digest, credentialsVersion, attempt, now, expiresAt, event };
    return (await this.store.create(stored)) ? ticket : null;
  }

  /** Issues a ticket for a user whom the application has identified. @throws AuthError `unknown_user` */
  async issueFor(user: { readonly id: UserId } | UserId, given: GivenProofs, info: ClientInfo): Promise<string> {
    assertMethods(given.methods ?? []);
    const id = givenId(user);
    if (id === null) throw unknownUser();
    const credentialsVersion = await this.credentials.versionOf(id);
    const stored = await this.users.findById(id);
    if (!stored?.active) throw unknownUser();
    const ticket = await this.issue({ user: stored, credentialsVersion, attempt: null }, given, info);
    // The user may have been disabled meanwhile: read again.
    return ticket ?? this.issueFor(user, given, info);
  }

  /** @throws AuthError `invalid_login_ticket` */
  async find(text: string, info: ClientInfo): Promise<FoundTicket> {
    if (typeof text !== 'string' || !isLoginTicket(text)) throw invalidLoginTicket();
    const ticket = await this.store.find(this.tokens.digest(text), this.lifecycle.now());
    if (!ticket) throw invalidLoginTicket();
    const user = await this.users.findById(this.users.parseId(ticket.userId));
    // Disabled in the application's own table, the user must have no valid ticket when enabled again.
    if (user && !user.active) {
      await this.lifecycle.revokeForInactiveAccount(ticket.userId, 'disabled', this.lifecycle.operationContext(info));
    }
    const version = user?.active ? await this.credentials.versionOf(ticket.userId) : null;
    if (!user || version !== ticket.credentialsVersion) throw invalidLoginTicket();
    return { ticket, user };
  }

  /** Opens a session, which consumes the ticket. @throws AuthError as `AuthService.openSession` */
  async open(text: string, info: ClientInfo): Promise<OpenedSession> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { ticket, user } = await this.find(text, info);
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

/** The id of a user whom the application names; null where a variable was never set. */
export function givenId(user: { readonly id: UserId } | UserId): UserId | null {
  const id = typeof user === 'object' ? user?.id : user;
  return id ?? null;
}

/** The user as the application is given it. */
export function identified({ id, username }: StoredUser): IdentifiedUser {
  return { id, username };
}
