import { Injectable } from '@nestjs/common';
import type { ClientInfo, IdentifiedUser } from '../adapters/second-factor';
import { type StoredUser, UserStore } from '../adapters/user-store';
import { invalidAccessToken, invalidLoginTicket } from '../base/errors';
import { SessionAttempts } from '../passwords/session-attempts';
import { type AuthPrincipal, currentSessionOf } from '../sessions/authenticate';
import { SessionLifecycle } from '../sessions/lifecycle';
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
    private readonly users: UserStore,
    private readonly tickets: LoginTickets,
    private readonly ticketStore: LoginTicketStore,
    private readonly throttle: LoginThrottle,
    private readonly slots: AttemptSlots,
    private readonly sessionAttempts: SessionAttempts,
    private readonly attemptEvents: FailedAttemptEvents,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  /**
   * Runs a check if the attempt is admitted, and counts a failure if the check returns false.
   * @returns the result of the check
   * @throws AuthError with the codes of `AuthService.attempt`
   */
  async attempt(target: AttemptTarget, info: ClientInfo, check: SecretCheck): Promise<boolean> {
    assertMethod(target.method);
    return 'ticket' in target
      ? this.attemptWithTicket(target.ticket, target.method, info, check)
      : this.attemptInSession(target.principal, target.method, info, check);
  }

  private async attemptInSession(
    principal: AuthPrincipal,
    method: string,
    info: ClientInfo,
    check: SecretCheck,
  ): Promise<boolean> {
    const current = currentSessionOf(principal);
    const user = current && (await this.users.findById(principal.userId));
    if (!user) throw invalidAccessToken();
    return this.sessionAttempts.attempt(current, user, info, method, () => runCheck(check, user));
  }

  private async attemptWithTicket(
    presented: string,
    method: string,
    info: ClientInfo,
    check: SecretCheck,
  ): Promise<boolean> {
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, async () => {
      const { ticket, user } = await this.tickets.find(presented, info);
      const keys = this.throttle.keysOfMethod(method, user, client);
      return this.slots.run(this.throttle.slotsOf(keys, user, client), async () => {
        const isAdmitted = await this.storeOutsideTransaction((now) =>
          this.ticketStore.takeAttempt(ticket.digest, now),
        );
        if (!isAdmitted) throw invalidLoginTicket();
        if (await runCheck(check, user)) {
          const isProved = await this.storeOutsideTransaction((now) =>
            this.ticketStore.recordProof(ticket.digest, method, keys, now),
          );
          if (!isProved) throw invalidLoginTicket();
          return true;
        }
        await this.storeOutsideTransaction(() =>
          this.throttle.fail(keys, this.attemptEvents.failureOf(client, user.username, user, 'network')),
        );
        return false;
      });
    });
  }

  private storeOutsideTransaction<T>(store: (now: number) => Promise<T>): Promise<T> {
    return this.slots.storeOutsideTransaction(() => store(this.lifecycle.now()));
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
