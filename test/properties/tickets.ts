import { TICKET_LIMITS } from './model';

/** A login ticket. The row of an ended ticket remains until pruning or until the user's next ticket. */
export interface ModelTicket {
  readonly text: string;
  /** The digest of the text. */
  readonly digest: string;
  readonly user: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  failures: number;
  /** The methods, with the instants of their last proofs. */
  readonly methods: Record<string, number>;
  readonly data: object | null;
}

/** The contract for login tickets in its simplest form. */
export class ModelTickets {
  all: ModelTicket[] = [];

  /** Adds a ticket. Removes the user's tickets with too many failures, and the oldest ones over the limit. */
  add(ticket: ModelTicket, now: number): void {
    const others = this.all
      .filter(({ user, expiresAt }) => user === ticket.user && expiresAt > now)
      .sort((a, b) => b.createdAt - a.createdAt || (a.digest < b.digest ? -1 : 1));
    const valid = others.filter(({ failures }) => failures < TICKET_LIMITS.failures);
    const kept = valid.slice(0, TICKET_LIMITS.perUser - 1);
    this.all = [...this.all.filter((one) => !others.includes(one) || kept.includes(one)), ticket];
  }

  find(text: string): ModelTicket | undefined {
    return this.all.find((ticket) => ticket.text === text);
  }

  findValid(text: string, now: number): ModelTicket | undefined {
    const ticket = this.find(text);
    return ticket && ticket.expiresAt > now && ticket.failures < TICKET_LIMITS.failures ? ticket : undefined;
  }

  remove(ticket: ModelTicket): void {
    this.all = this.all.filter((one) => one !== ticket);
  }

  endAllOf(user: string): void {
    this.all = this.all.filter((ticket) => ticket.user !== user);
  }

  prune(now: number): void {
    this.all = this.all.filter(({ expiresAt }) => expiresAt > now);
  }
}
