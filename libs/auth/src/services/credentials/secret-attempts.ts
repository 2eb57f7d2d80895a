import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../domain/client';
import { invalidAccessToken, invalidLoginTicket } from '../../domain/errors';
import { type StoredUser, UserStore } from '../../domain/ports/accounts';
import { type IdentifiedUser, LoginTicketStore } from '../../domain/ports/login-tickets';
import { assertMethods } from '../../domain/proofs';
import { type AuthPrincipal, currentSessionOf } from '../sessions/authentication';
import { SessionLifecycle } from '../sessions/session-lifecycle';
import { AttemptSlots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';
import { identified, LoginTickets } from './login-tickets';
import { LoginThrottle } from './login-throttle';
import { SessionAttempts } from './session-attempts';

/** What an attempt belongs to: a login that has begun, or a session; and by which method the user is identified. */
export type AttemptTarget =
  { readonly ticket: string; readonly method: string } | { readonly principal: AuthPrincipal; readonly method: string };

/** Checks what was entered, for the user whom the ticket or session belongs to. */
export type SecretCheck = (user: IdentifiedUser) => boolean | Promise<boolean>;

/** Throttles the checks of secrets other than passwords: one-time codes, recovery codes. */
@Injectable()
export class SecretAttempts {
  constructor(
    private readonly users: UserStore,
    private readonly tickets: LoginTickets,
    private readonly ticketStore: LoginTicketStore,
    private readonly throttle: LoginThrottle,
    private readonly slots: AttemptSlots,
    private readonly sessionAttempts: SessionAttempts,
    private readonly report: FailedLoginReport,
    private readonly lifecycle: SessionLifecycle,
  ) {}

  /** @throws as `AuthService.attempt` */
  async attempt(target: AttemptTarget, info: ClientInfo, check: SecretCheck): Promise<boolean> {
    assertMethods([target.method]);
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
    return this.sessionAttempts.attempt(current, user, info, method, () => run(check, user));
  }

  private async attemptWithTicket(
    text: string,
    method: string,
    info: ClientInfo,
    check: SecretCheck,
  ): Promise<boolean> {
    const { client } = this.lifecycle.operationContext(info);
    return this.slots.enter(client.network, async () => {
      const { ticket, user } = await this.tickets.find(text, info);
      const keys = this.throttle.keysOfMethod(method, user, client);
      return this.slots.run(this.throttle.slotsOf(keys, user, client), async () => {
        const isAdmitted = await this.settle((now) => this.ticketStore.takeAttempt(ticket.digest, now));
        if (!isAdmitted) throw invalidLoginTicket();
        if (await run(check, user)) {
          const isProved = await this.settle((now) => this.ticketStore.prove(ticket.digest, method, keys, now));
          if (!isProved) throw invalidLoginTicket();
          return true;
        }
        await this.settle(() => this.throttle.fail(keys, this.report.of(client, user.username, user, 'network')));
        return false;
      });
    });
  }

  private settle<T>(store: (now: number) => Promise<T>): Promise<T> {
    return this.slots.settle(() => store(this.lifecycle.now()));
  }
}

/** @throws Error for a check that returns anything but a boolean: it must not count as right, nor as a guess */
async function run(check: SecretCheck, user: StoredUser): Promise<boolean> {
  const result: unknown = await check(identified(user));
  if (typeof result === 'boolean') return result;
  throw new Error(`The check of attempt() returned ${result === null ? 'null' : typeof result}; return true or false.`);
}
