import { AuthError, SecondFactor, type AuthService } from 'nestjs-session-auth';
import type { Attempt, TicketAction } from './actions';
import { outcome } from './instance';
import type { Model, ModelProofs, ModelTicket, Pair, Refusal } from './model';

/** A session that the library opened, or its refusal. */
export type Opened = string | (Pair & { readonly sessionId: string });

/** Compares an opened session with the model and adds it there. */
export type AssertOpened = (user: string, opened: Opened, refusal: Refusal | null, proofs: ModelProofs) => void;

/** The users who need a second factor, read from the model. */
export class EnrolledUsers extends SecondFactor {
  constructor(private readonly model: Model) {
    super();
  }

  isRequired({ id }: { readonly id: string | number | bigint }): boolean {
    return this.model.enrolled.has(String(id));
  }
}

class CheckError extends Error {}

/** Logins in two steps, by the library and by the model. */
export class TicketSteps {
  private readonly issued: string[] = [];
  private counter = 0;

  constructor(
    private readonly model: Model,
    private readonly assertOpened: AssertOpened,
    private readonly advanceTo: (instant: number) => void,
  ) {}

  async act(
    action: TicketAction,
    auth: AuthService,
    user: { id: string; username: string; password: string },
  ): Promise<void> {
    const { model } = this;
    const { id, username, password } = user;
    switch (action.kind) {
      case 'enrol':
        if (action.isRequired) model.enrolled.add(id);
        else model.enrolled.delete(id);
        return;
      case 'createTicket':
        for (let i = 0; i < action.count; i++) await this.create(auth, id, action.methods);
        return;
      case 'verifyCredentials': {
        const verified = await outcome(auth.verifyCredentials({ username, password }));
        if (model.inactive.has(id)) {
          expect(verified).toBe('invalid_credentials');
          return model.loginFailed(id, username, 'pwd');
        }
        expect(verified).toEqual({ user: { id, username }, ticket: expect.any(String) });
        return this.firstFactor(id, (verified as { ticket: string }).ticket);
      }
      default: {
        const text = this.issued.at(-1 - (action.ticket % Math.max(1, this.issued.length)));
        if (text !== undefined) await this.actWith(text, action, auth);
      }
    }
  }

  /** Records a correct password of a user who needs a second factor. */
  firstFactor(user: string, ticket: string): void {
    this.issued.push(ticket);
    this.model.clearFailures(user, 'pwd');
    this.model.ticketIssued(user, ticket, ['pwd'], null);
  }

  private async actWith(
    text: string,
    action: Extract<TicketAction, { readonly ticket: number }>,
    auth: AuthService,
  ): Promise<void> {
    switch (action.kind) {
      case 'outliveTicket': {
        const ticket = this.model.tickets.find(text);
        if (ticket) this.advanceTo(ticket.expiresAt + action.ms);
        return;
      }
      case 'openWithTicket':
        return this.assertOpenedWith(text, await outcome(auth.openSession({ ticket: text })));
      case 'openTwice': {
        const both: Opened[] = await Promise.all([1, 2].map(() => outcome(auth.openSession({ ticket: text }))));
        // Either request may succeed. The model runs the successful request first.
        if (typeof both[0] === 'string') both.reverse();
        for (const one of both) this.assertOpenedWith(text, one);
        return;
      }
      case 'attempt':
        for (const attempt of action.attempts) {
          for (let i = 0; i < attempt.times; i++) await this.attempt(text, attempt, auth);
        }
    }
  }

  private async create(auth: AuthService, user: string, methods: readonly string[]): Promise<void> {
    const data: object | null = methods.length > 1 ? { number: this.counter++ } : null;
    const ticket = await outcome(auth.createLoginTicket(user, { methods, ...(data ? { data } : {}) }));
    if (this.model.inactive.has(user)) {
      expect(ticket).toBe('unknown_user');
      return;
    }
    this.issued.push(ticket);
    this.model.ticketIssued(user, ticket, methods, data);
  }

  private assertOpenedWith(text: string, opened: Opened): void {
    const ticket = this.model.tickets.find(text);
    const refusal = this.model.admitTicket(text);
    if (!ticket || refusal) {
      expect(opened).toBe(refusal);
      return;
    }
    this.model.tickets.remove(ticket);
    this.assertOpened(ticket.user, opened, null, ticket);
  }

  private async attempt(ticket: string, { method, result }: Attempt, auth: AuthService): Promise<void> {
    const found: ModelTicket | undefined = this.model.tickets.find(ticket);
    let username = '';
    const check = (user: { readonly id: unknown; readonly username: string }): boolean => {
      expect(user.id).toBe(found?.user);
      ({ username } = user);
      if (result === 'throws') throw new CheckError();
      return result === 'right';
    };
    const attempted = await outcome(auth.attempt({ ticket, method }, {}, check)).catch((error: unknown) => {
      if (error instanceof CheckError) return 'thrown';
      throw error;
    });
    const expected = this.model.attempted(ticket, method, result, username);
    if (expected === null) expect([attempted, username]).toEqual(['invalid_login_ticket', '']);
    else expect(attempted).toBe(result === 'throws' ? 'thrown' : expected);
  }
}

/** Returns the ticket of a login that needs a second factor. */
export function loginTicketOf(error: unknown): string {
  if (error instanceof AuthError && error.loginTicket) return error.loginTicket;
  throw error;
}
