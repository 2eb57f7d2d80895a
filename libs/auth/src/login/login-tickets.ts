import { Injectable } from '@nestjs/common';
import { ApplicationCalls, checkedBoolean } from '../adapters/application-calls';
import { type ClientInfo, type IdentifiedUser, SecondFactor } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { AuthError, invalidLoginTicket, secondFactorRequired, standardError, unknownUser } from '../base/errors';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, type Statement, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, type Row, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { Operation } from '../history/client';
import { EventLog, type NewAuthEvent, newEvent } from '../history/event-log';
import { EndSessions } from '../sessions/end-sessions';
import { type Identification, OpenSession } from '../sessions/open-session';
import {
  assertMethods,
  type GivenProofs,
  methodCount,
  PROOF_COLUMNS,
  proofsFromRow,
  storedProofs,
  type StoredProofs,
  withProvenMethods,
} from '../sessions/session';
import type { Subject } from '../throttle/subjects';
import { type Charge, Throttle } from '../throttle/throttle';
import { isLoginTicket, type OpenedSession, TokenIssuer } from '../tokens/tokens';
import { UserLock } from '../users/user-lock';
import { Users } from '../users/users';

/** Calls the application's `SecondFactor`. If it fails, times out or returns no boolean, the login fails with 503. */
export class ApplicationSecondFactor extends SecondFactor {
  private readonly calls = new ApplicationCalls('AuthSecondFactor', 'second factor');

  constructor(private readonly secondFactor: SecondFactor) {
    super();
  }

  isRequired(user: IdentifiedUser, client: ClientInfo): Promise<boolean> {
    return this.calls.call('isRequired', async () =>
      checkedBoolean(await this.secondFactor.isRequired(user, client), 'Return true or false.'),
    );
  }
}

/**
 * The number of failed attempts after which a ticket is revoked. Each attempt is counted before its secret is checked,
 * and subtracted again if the secret is correct.
 */
const MAX_TICKET_FAILURES = 5;

/** The condition for a ticket that has neither expired nor reached the maximum number of failures. */
const VALID_TICKET = `{ticket.expiresAt} > :now AND {ticket.failureCount} < ${MAX_TICKET_FAILURES}`;

/** The maximum number of valid tickets of a user. */
const MAX_TICKETS = 20;

/** A stored login ticket, which represents a login after its first factor and before its session is opened. */
interface LoginTicket extends StoredProofs {
  /** The SHA-256 digest of the ticket. */
  readonly digest: string;
  /** The user's id as text. */
  readonly userId: string;
  /**
   * The version of the user's credentials when the ticket was stored. The ticket is valid only
   * while this is the current version.
   */
  readonly credentialsVersion: number;
}

/** The properties that decide how long a stored ticket is kept. */
interface TicketAge {
  readonly digest: string;
  readonly failures: number;
  readonly expiresAt: number;
}

/**
 * Returns the digests of the tickets to remove before another ticket is stored: tickets that are no longer valid, and
 * the oldest tickets above the limit.
 */
function ticketsToRemove(newestFirst: readonly TicketAge[], now: number): readonly string[] {
  const isValid = ({ failures, expiresAt }: TicketAge): boolean => expiresAt > now && failures < MAX_TICKET_FAILURES;
  const kept = new Set(newestFirst.filter(isValid).slice(0, MAX_TICKETS - 1));
  return newestFirst.filter((ticket) => !kept.has(ticket)).map(({ digest }) => digest);
}

/**
 * The maximum number of times that `open` reads a ticket. `open` reads the ticket again if the session could not be
 * opened, for example because a parallel attempt has added a method to the ticket.
 */
const MAX_READS = 5;

/** A user whom the first factor has identified, with the version of the user's credentials at that time. */
interface FirstFactor extends Pick<Identification, 'userId' | 'succeed'> {
  readonly credentialsVersion: number;
}

/** A valid ticket, and the active user to whom the ticket belongs. */
export interface FoundTicket {
  readonly ticket: LoginTicket;
  readonly user: StoredUser;
}

const INSERTED = 'digest userId credentialsVersion methods data createdAt expiresAt'.split(' ');

/** Issues login tickets after the first factor, and opens sessions with them. Tickets are stored as digests. */
@Injectable()
export class LoginTickets {
  private readonly insert;
  private readonly readLive;
  private readonly remove;
  private readonly select;
  private readonly readPresented;
  private readonly consumePresented;
  private readonly countAttempt;
  private readonly takeBackAttempt;
  private readonly lockProven;
  private readonly writeProven;

  constructor(
    private readonly users: Users,
    private readonly secondFactor: SecondFactor,
    private readonly tokens: TokenIssuer,
    private readonly endSessions: EndSessions,
    private readonly opening: OpenSession,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly lock: UserLock,
    private readonly events: EventLog,
    statements: StatementFactory,
  ) {
    const names = INSERTED.map((name) => `{ticket.${name}}`).join(', ');
    const values = INSERTED.map((name) => `:${name}`).join(', ');
    this.insert = statements.statement(`INSERT INTO {ticket} (${names}, {ticket.failureCount}) VALUES (${values}, 0)`);
    // Reads the row of the lock with the user's unexpired tickets.
    this.readLive = statements.statement(
      `SELECT s.{lock.credentialsVersion} AS version, ${columns('ticket', 'digest failureCount expiresAt', 't.')}
       FROM {lock} s LEFT JOIN {ticket} t ON t.{ticket.userId} = s.{lock.userId} AND t.{ticket.expiresAt} > :now
       WHERE s.{lock.userId} = :userId ORDER BY t.{ticket.createdAt} DESC, t.{ticket.digest}`,
    );
    this.remove = statements.statement(
      'DELETE FROM {ticket} WHERE {ticket.userId} = :userId AND {ticket.digest} IN (:digests...)',
    );
    this.select = statements.statement(
      `SELECT ${columns('ticket', `digest userId credentialsVersion ${PROOF_COLUMNS}`)} FROM {ticket}
       WHERE {ticket.digest} = :digest AND ${VALID_TICKET}`,
    );
    const presented = `{ticket.digest} = :digest AND {ticket.userId} = :userId AND {ticket.methods} = :methods
      AND ${VALID_TICKET}`;
    this.readPresented = statements.statement(`SELECT 1 AS valid FROM {ticket} WHERE ${presented}`);
    this.consumePresented = statements.statement(`DELETE FROM {ticket} WHERE ${presented}`);
    const addFailures = (step: string, condition: string): Statement =>
      statements.statement(
        `UPDATE {ticket} SET {ticket.failureCount} = {ticket.failureCount} ${step}
         WHERE {ticket.digest} = :digest AND ${condition}`,
      );
    this.countAttempt = addFailures('+ 1', VALID_TICKET);
    this.takeBackAttempt = addFailures('- 1', '{ticket.failureCount} > 0');
    // The failures of the ticket include the attempt whose proof is being stored, so the ticket may have
    // reached the limit.
    this.lockProven = statements.statement(
      `SELECT {ticket.methods} AS methods FROM {ticket}
       WHERE {ticket.digest} = :digest AND {ticket.expiresAt} > :now ${forUpdate(statements.dialect)}`,
    );
    this.writeProven = statements.statement(
      `UPDATE {ticket} SET {ticket.methods} = :methods, {ticket.failureCount} = {ticket.failureCount} - 1
       WHERE {ticket.digest} = :digest AND {ticket.methods} = :methodsRead AND {ticket.failureCount} > 0`,
    );
  }

  /**
   * Issues a ticket after the first factor, and removes the user's oldest tickets beyond 20. Returns null if the
   * version of the credentials changed in the meantime.
   */
  async issue({ userId, ...firstFactor }: FirstFactor, given: GivenProofs, op: Operation): Promise<string | null> {
    const now = this.clock.now();
    const { ticket, digest, expiresAt } = this.tokens.issueLoginTicket(now);
    const event = newEvent('first_factor_success', String(userId), op.client, now);
    const stored = {
      ...storedProofs(given, now),
      ...firstFactor,
      userId: String(userId),
      digest,
      now,
      expiresAt,
      event,
    };
    const isStored = await this.database.transaction(null, () => this.store(stored), { retryUnknownCommit: true });
    return isStored ? ticket : null;
  }

  /** Issues a ticket for a user whom the application has identified. @throws AuthError `unknown_user` */
  async issueFor(user: { readonly id: UserId } | UserId, given: GivenProofs, op: Operation): Promise<string> {
    assertMethods(given.methods ?? []);
    const id = userIdOf(user);
    if (id === null) throw unknownUser();
    const credentialsVersion = await this.lock.versionOf(String(id), null);
    const stored = await this.users.findById(id, null);
    if (!stored?.active) throw unknownUser();
    const ticket = await this.issue({ userId: stored.id, credentialsVersion }, given, op);
    // If no ticket was issued, the credentials version changed in the meantime, for example by `disableUser`.
    return ticket ?? this.issueFor(user, given, op);
  }

  /** Returns a valid ticket and its user. @throws AuthError `invalid_login_ticket` */
  async find(presented: string, op: Operation): Promise<FoundTicket> {
    if (typeof presented !== 'string' || !isLoginTicket(presented)) throw invalidLoginTicket();
    const query = this.select.with({ digest: sha256(presented), now: this.clock.now() });
    const [row] = (await this.database.run(null, query)).rows;
    if (!row) throw invalidLoginTicket();
    const ticket = ticketFromRow(row);
    const user = await this.users.findById(this.users.parseId(ticket.userId), null);
    // The application has disabled the user in its own table. The user's tickets must not become valid again when the
    // application enables the user.
    if (user && !user.active) await this.endSessions.endForInactiveAccount(ticket.userId, 'disabled', op);
    const version = user?.active ? await this.lock.versionOf(ticket.userId, null) : null;
    if (!user || version !== ticket.credentialsVersion) throw invalidLoginTicket();
    return { ticket, user };
  }

  /** Consumes a ticket and opens a session. @throws AuthError with the codes of `AuthService.openSession` */
  async open(presented: string, op: Operation): Promise<OpenedSession> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { ticket, user } = await this.find(presented, op);
      const hasSecond = methodCount(ticket.methods) > 1;
      if (!hasSecond && (await this.secondFactor.isRequired(toIdentifiedUser(user), op.client.info)))
        throw secondFactorRequired();
      const opened = await this.opening.open({ ...this.identificationBy(ticket), userId: user.id }, op);
      if (opened.kind === 'opened') return opened.session;
      if (opened.kind === 'limit_reached') throw sessionLimitReached();
    }
    throw invalidLoginTicket();
  }

  /** Returns how a charge counts an attempt with the ticket. Throws `invalid_login_ticket` after five failures. */
  counting({ digest }: LoginTicket): Required<Pick<Subject, 'begin' | 'takeBack'>> {
    const { countAttempt, takeBackAttempt } = this;
    const now = this.clock.now();
    return {
      *begin(): Step<void> {
        if ((yield* affectedBy(countAttempt.with({ digest, now }))) === 0) throw invalidLoginTicket();
      },
      *takeBack(): Step<void> {
        yield* affectedBy(takeBackAttempt.with({ digest }));
      },
    };
  }

  /**
   * Adds the method of a successful attempt to the ticket, and deletes the failures of the method. Returns false if
   * the ticket has expired or no longer exists.
   */
  recordProof(digest: string, charge: Charge): Promise<boolean> {
    const call: ProofCall = { digest, charge, now: this.clock.now(), written: null };
    return this.database.transaction(null, () => this.storeProof(call), { retryUnknownCommit: true });
  }

  /** Returns the steps that check and consume the ticket in the transaction that opens the session. */
  private identificationBy(ticket: LoginTicket): Omit<Identification, 'userId'> {
    const { readPresented, consumePresented } = this;
    const { digest, userId, methods, credentialsVersion } = ticket;
    return {
      credentialsVersion,
      proofsAt: () => ticket,
      *check(now): Step<boolean> {
        return (yield* firstOf(readPresented.with({ digest, userId, methods, now }))) !== null;
      },
      *consume(now): Step<void> {
        yield* changeAll(consumePresented.with({ digest, userId, methods, now }), 1);
      },
    };
  }

  private *store({ now, expiresAt, succeed, event, ...ticket }: NewLoginTicket): Transaction<boolean> {
    const { userId, digest } = ticket;
    // Without the lock, parallel logins would not see each other's tickets, and could exceed the limit.
    yield* this.lock.lock(userId);
    const rows = yield* rowsOf(this.readLive.with({ userId, now }));
    const stored = rows.filter((row) => row['digest'] !== null).map(ageFromRow);
    // If the response to COMMIT is lost, the next run finds the ticket that the first run has stored.
    if (stored.some((age) => age.digest === digest)) return true;
    if (Number(rows[0]?.['version']) !== ticket.credentialsVersion) return false;
    const digests = ticketsToRemove(stored, now);
    if (digests.length > 0) yield* affectedBy(this.remove.with({ userId, digests }));
    yield* affectedBy(this.insert.with({ ...ticket, createdAt: now, expiresAt }));
    if (succeed) yield* succeed();
    yield* this.events.write([event]);
    return true;
  }

  private *storeProof(call: ProofCall): Step<boolean> {
    const { digest, charge, now } = call;
    const row = yield* firstOf(this.lockProven.with({ digest, now }));
    // If the response to COMMIT is lost, the next run finds the methods that the first run has written.
    if (row && row['methods'] === call.written) return true;
    yield* this.throttle.clear(charge);
    if (!row) return false;
    const methodsRead = String(row['methods']);
    const methods = withProvenMethods(methodsRead, [charge.subject.method], now);
    yield* changeAll(this.writeProven.with({ digest, methods, methodsRead }), 1);
    call.written = methods;
    return true;
  }
}

/** A ticket to be stored. */
interface NewLoginTicket extends LoginTicket, Pick<FirstFactor, 'succeed'> {
  readonly now: number;
  readonly expiresAt: number;
  /** The event that is recorded in the same transaction. */
  readonly event: NewAuthEvent;
}

/** A successful attempt to be stored, and the methods that an earlier run of the transaction has written. */
interface ProofCall {
  readonly digest: string;
  readonly charge: Charge;
  readonly now: number;
  written: string | null;
}

/** Returns the id of an argument that is a user or a user id. Returns null if the argument has no id. */
export function userIdOf(user: { readonly id: UserId } | UserId): UserId | null {
  const id = typeof user === 'object' ? user?.id : user;
  return id ?? null;
}

export function sessionLimitReached(): AuthError {
  return standardError('session_limit_reached');
}

/** Returns the id and name of a user, which the application receives. */
export function toIdentifiedUser({ id, username }: StoredUser): IdentifiedUser {
  return { id, username };
}

function ticketFromRow(row: Row): LoginTicket {
  return {
    digest: String(row['digest']),
    userId: String(row['user_id']),
    credentialsVersion: Number(row['credentials_version']),
    ...proofsFromRow(row),
  };
}

function ageFromRow(row: Row): TicketAge {
  return {
    digest: String(row['digest']),
    failures: Number(row['failure_count']),
    expiresAt: Number(row['expires_at']),
  };
}
