import { Injectable } from '@nestjs/common';
import type { IdentifiedUser } from '../adapters/second-factor';
import type { StoredUser } from '../adapters/user-store';
import { invalidAccessToken, invalidLoginTicket } from '../base/errors';
import { SessionAttempts } from '../passwords/session-attempts';
import { type AuthPrincipal, currentSessionOf } from '../sessions/authenticate';
import { Clock } from '../base/clock';
import { Database } from '../database/database';
import type { Operation } from '../history/client';
import { Users } from '../users/users';
import { assertMethod } from '../sessions/proofs';
import { AttemptSlots } from '../throttle/attempt-slots';
import { FailedAttemptEvents, LoginThrottle } from '../throttle/throttle';
import { LoginTickets, LoginTicketStore, toIdentifiedUser } from './login-tickets';

/** The login ticket or the session that an attempt belongs to, and the method that the attempt proves. */
export type AttemptTarget =
  { readonly ticket: string; readonly method: string } | { readonly principal: AuthPrincipal; readonly method: string };

/** Checks a secret of the user to whom the ticket or session belongs. */
export type SecretCheck = (user: IdentifiedUser) => boolean | Promise<boolean>;

/** Throttles the checks of secrets other than passwords, such as one-time codes and recovery codes. */
@Injectable()
export class SecretAttempts {
  constructor(
    private readonly users: Users,
    private readonly tickets: LoginTickets,
    private readonly ticketStore: LoginTicketStore,
    private readonly throttle: LoginThrottle,
    private readonly slots: AttemptSlots,
    private readonly sessionAttempts: SessionAttempts,
    private readonly attemptEvents: FailedAttemptEvents,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs a check if the attempt is admitted, and counts a failure if the check returns false.
   * @returns the result of the check
   * @throws AuthError with the codes of `AuthService.attempt`
   */
  async attempt(target: AttemptTarget, op: Operation, check: SecretCheck): Promise<boolean> {
    assertMethod(target.method);
    return 'ticket' in target
      ? this.attemptWithTicket(target.ticket, target.method, op, check)
      : this.attemptInSession(target.principal, target.method, op, check);
  }

  private async attemptInSession(
    principal: AuthPrincipal,
    method: string,
    op: Operation,
    check: SecretCheck,
  ): Promise<boolean> {
    const current = currentSessionOf(principal);
    const user = current && (await this.users.findById(principal.userId, op.tx));
    if (!user) throw invalidAccessToken();
    return this.sessionAttempts.attempt(current, user, op, method, () => runCheck(check, user));
  }

  private async attemptWithTicket(
    presented: string,
    method: string,
    op: Operation,
    check: SecretCheck,
  ): Promise<boolean> {
    const { client } = op;
    const tx = this.database.outside(op.tx);
    return this.slots.enter(client.network, async () => {
      const { ticket, user } = await this.tickets.find(presented, op);
      const keys = this.throttle.keysOfMethod(method, user, client);
      return this.slots.run(this.throttle.slotsOf(keys, user, client, tx), async () => {
        const isAdmitted = await this.ticketStore.takeAttempt(ticket.digest, this.clock.now());
        if (!isAdmitted) throw invalidLoginTicket();
        if (await runCheck(check, user)) {
          const isProved = await this.ticketStore.recordProof(ticket.digest, method, keys, this.clock.now());
          if (!isProved) throw invalidLoginTicket();
          return true;
        }
        await this.throttle.fail(keys, this.attemptEvents.failureOf(client, user.username, user, 'network'), tx);
        return false;
      });
    });
  }
}

/**
 * Returns the result of the check.
 * @throws Error if the result is not a boolean. No failure is then counted, but a ticket has used one attempt
 */
async function runCheck(check: SecretCheck, user: StoredUser): Promise<boolean> {
  const result: unknown = await check(toIdentifiedUser(user));
  if (typeof result === 'boolean') return result;
  throw new Error(
    `The callback passed to attempt() returned ${result === null ? 'null' : typeof result}. Return true or false.`,
  );
}
