import { Injectable } from '@nestjs/common';
import type { IdentifiedUser } from '../adapters/second-factor';
import type { StoredUser } from '../adapters/user-store';
import { invalidLoginTicket } from '../base/errors';
import type { Operation } from '../history/client';
import { HashQueue } from '../passwords/hash-queue';
import { InSession } from '../passwords/in-session';
import type { AuthPrincipal } from '../sessions/authenticate';
import { assertMethod } from '../sessions/session';
import { Subjects } from '../throttle/subjects';
import { type Charge, Throttle } from '../throttle/throttle';
import { type FoundTicket, LoginTickets, toIdentifiedUser } from './login-tickets';

/** The login ticket or the session that an attempt belongs to, and the method that the attempt proves. */
type AttemptTarget =
  { readonly ticket: string; readonly method: string } | { readonly principal: AuthPrincipal; readonly method: string };

/** Checks a secret of the user to whom the ticket or session belongs. */
type SecretVerifier = (user: IdentifiedUser) => boolean | Promise<boolean>;

/** Throttles the checks of secrets other than passwords, such as one-time codes and recovery codes. */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly tickets: LoginTickets,
    private readonly inSession: InSession,
    private readonly subjects: Subjects,
    private readonly throttle: Throttle,
    private readonly queue: HashQueue,
  ) {}

  /**
   * Runs a check if the attempt is admitted. The attempt counts as failed unless the check returns true.
   * @returns the result of the check
   * @throws AuthError with the codes of `AuthService.attempt`
   */
  async attempt(target: AttemptTarget, op: Operation, verify: SecretVerifier): Promise<boolean> {
    assertMethod(target.method);
    if ('ticket' in target) return this.attemptWithTicket(target.ticket, target.method, op, verify);
    return this.inSession.attempt(target.principal, target.method, op, (user) => runCheck(verify, user));
  }

  private attemptWithTicket(
    presented: string,
    method: string,
    op: Operation,
    verify: SecretVerifier,
  ): Promise<boolean> {
    return this.queue.enter(op.client.network, async () => {
      const found = await this.tickets.find(presented, op);
      const { user } = found;
      const subject = { ...this.subjects.ofMethod(method, user, op.client), ...this.tickets.counting(found.ticket) };
      const charge = await this.throttle.charge(subject, op);
      const outcome = await this.prove(found, charge, verify).catch((error: unknown) =>
        this.throttle.refund(charge, error, op),
      );
      if (outcome === 'wrong') await this.throttle.report(charge, user, op);
      if (outcome === 'ticket_ended') throw invalidLoginTicket();
      return outcome === 'proved';
    });
  }

  /** Checks the secret, and adds the method to the ticket if the secret is right. */
  private async prove(
    { ticket, user }: FoundTicket,
    charge: Charge,
    verify: SecretVerifier,
  ): Promise<'proved' | 'wrong' | 'ticket_ended'> {
    if (!(await runCheck(verify, user))) return 'wrong';
    return (await this.tickets.recordProof(ticket.digest, charge)) ? 'proved' : 'ticket_ended';
  }
}

/** Returns the result of the check. @throws Error if the result is not a boolean */
async function runCheck(verify: SecretVerifier, user: StoredUser): Promise<boolean> {
  const result: unknown = await verify(toIdentifiedUser(user));
  if (typeof result === 'boolean') return result;
  throw new Error(
    `The callback passed to attempt() returned ${result === null ? 'null' : typeof result}. Return true or false.`,
  );
}
