import { Injectable } from '@nestjs/common';
import { ApplicationCalls, checkedBoolean } from '../adapters/application-calls';
import { type ClientInfo, type IdentifiedUser, SecondFactor } from '../adapters/second-factor';
import type { StoredUser, UserId } from '../adapters/user-store';
import { AuthError, invalidLoginTicket, secondFactorRequired, unknownUser } from '../base/errors';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { columns, type ParameterValues, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, type Row, rowsOf, type Step, type Transaction } from '../database/transaction';
import { EventLog, type NewAuthEvent, newEvent } from '../history/event-log';
import { Clock } from '../base/clock';
import type { Operation } from '../history/client';
import { EndSessions } from '../sessions/end-sessions';
import { OpenSession } from '../sessions/open-session';
import {
  assertMethods,
  type GivenProofs,
  methodCount,
  PROOF_COLUMNS,
  proofsFromRow,
  storedProofs,
  type StoredProofs,
  withProvenMethods,
} from '../sessions/proofs';
import type { AttemptKeys } from '../throttle/limits';
import { endStreaks } from '../throttle/throttle';
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

/** The maximum number of valid tickets of a user. */
export const MAX_TICKETS = 20;

/** A stored login ticket, which represents a login after its first factor and before its session is opened. */
export interface LoginTicket extends StoredProofs {
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
export interface TicketAge {
  readonly digest: string;
  readonly failures: number;
  readonly expiresAt: number;
}

/**
 * Returns the digests of the tickets to remove before another ticket is stored: tickets that are no longer valid, and
 * the oldest tickets above the limit.
 */
export function ticketsToRemove(newestFirst: readonly TicketAge[], now: number): readonly string[] {
  const isValid = ({ failures, expiresAt }: TicketAge): boolean => expiresAt > now && failures < MAX_TICKET_FAILURES;
  const kept = new Set(newestFirst.filter(isValid).slice(0, MAX_TICKETS - 1));
  return newestFirst.filter((ticket) => !kept.has(ticket)).map(({ digest }) => digest);
}

/** A ticket to be stored. */
export interface NewLoginTicket extends LoginTicket {
  readonly now: number;
  readonly expiresAt: number;
  /** The failure streaks that the first factor ends, or null if no password was verified. */
  readonly attempt: AttemptKeys | null;
  /** The event that is recorded in the same transaction. */
  readonly event: NewAuthEvent;
}

/** Stores login tickets as digests. */
export abstract class LoginTicketStore {
  abstract isValid(ticket: ParameterValues): Step<boolean>;
  abstract consume(ticket: ParameterValues): Step<void>;
  /**
   * Stores a ticket and removes the user's oldest tickets beyond 20. Returns false if the version of the
   * credentials has changed.
   */
  abstract create(ticket: NewLoginTicket): Promise<boolean>;
  /** Returns the valid ticket with this digest, or null. */
  abstract find(digest: string, now: number): Promise<LoginTicket | null>;
  /** Counts an attempt before its secret is checked. Returns false if the ticket is not valid. */
  abstract takeAttempt(digest: string, now: number): Promise<boolean>;
  /**
   * Adds a proven method to the ticket, subtracts the attempt that `takeAttempt` counted, and ends the failure streaks
   * of the method. Returns false if the ticket has expired or no longer exists.
   */
  abstract recordProof(digest: string, method: string, keys: AttemptKeys, now: number): Promise<boolean>;
}

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
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly store: LoginTicketStore,
    private readonly secondFactor: SecondFactor,
    private readonly tokens: TokenIssuer,
    private readonly endSessions: EndSessions,
    private readonly opening: OpenSession,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns whether the application requires a second factor from the user.
   * @throws AuthError `database_unavailable`
   */
  async isSecondFactorRequired(user: StoredUser, op: Operation): Promise<boolean> {
    return this.secondFactor.isRequired(toIdentifiedUser(user), op.client.info);
  }

  /** Issues a ticket after the first factor. Returns null if the credentials version changed in the meantime. */
  async issue(firstFactor: VerifiedFirstFactor, given: GivenProofs, op: Operation): Promise<string | null> {
    const { client } = op;
    const now = this.clock.now();
    const { ticket, digest, expiresAt } = this.tokens.issueLoginTicket(now);
    const userId = String(firstFactor.user.id);
    const { credentialsVersion, attempt } = firstFactor;
    const event = newEvent('first_factor_success', userId, client, now);
    const proofs = storedProofs(given, now);
    const stored = { ...proofs, userId, digest, credentialsVersion, attempt, now, expiresAt, event };
    return (await this.store.create(stored)) ? ticket : null;
  }

  /** Issues a ticket for a user whom the application has identified. @throws AuthError `unknown_user` */
  async issueFor(user: { readonly id: UserId } | UserId, given: GivenProofs, op: Operation): Promise<string> {
    assertMethods(given.methods ?? []);
    const id = userIdOf(user);
    if (id === null) throw unknownUser();
    const credentialsVersion = await this.lock.versionOf(String(id), null);
    const stored = await this.users.findById(id, null);
    if (!stored?.active) throw unknownUser();
    const ticket = await this.issue({ user: stored, credentialsVersion, attempt: null }, given, op);
    // If no ticket was issued, the credentials version changed in the meantime, for example by `disableUser`.
    return ticket ?? this.issueFor(user, given, op);
  }

  /** Returns a valid ticket and its user. @throws AuthError `invalid_login_ticket` */
  async find(presented: string, op: Operation): Promise<FoundTicket> {
    if (typeof presented !== 'string' || !isLoginTicket(presented)) throw invalidLoginTicket();
    const ticket = await this.store.find(this.tokens.digest(presented), this.clock.now());
    if (!ticket) throw invalidLoginTicket();
    const user = await this.users.findById(this.users.parseId(ticket.userId), null);
    // The application has disabled the user in its own table. The user's tickets must not become valid again when the
    // application enables the user.
    if (user && !user.active) {
      await this.endSessions.endForInactiveAccount(ticket.userId, 'disabled', op);
    }
    const version = user?.active ? await this.lock.versionOf(ticket.userId, null) : null;
    if (!user || version !== ticket.credentialsVersion) throw invalidLoginTicket();
    return { ticket, user };
  }

  /** Consumes a ticket and opens a session. @throws AuthError with the codes of `AuthService.openSession` */
  async open(presented: string, op: Operation): Promise<OpenedSession> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { ticket, user } = await this.find(presented, op);
      const hasSecond = methodCount(ticket.methods) > 1;
      if (!hasSecond && (await this.isSecondFactorRequired(user, op))) throw secondFactorRequired();
      const { digest, methods, credentialsVersion } = ticket;
      const presentedTicket = { digest, methods, userId: ticket.userId };
      const opened = await this.opening.open(
        {
          userId: user.id,
          credentialsVersion,
          proofsAt: () => ticket,
          check: (now) => this.store.isValid({ ...presentedTicket, now }),
          consume: (now) => this.store.consume({ ...presentedTicket, now }),
        },
        op,
      );
      if (opened.kind === 'opened') return opened.session;
      if (opened.kind === 'limit_reached')
        throw new AuthError('session_limit_reached', 'The session limit has been reached.');
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

/** The condition for a ticket that has neither expired nor reached the maximum number of failures. */
const VALID_TICKET = `{ticket.expiresAt} > :now AND {ticket.failureCount} < ${MAX_TICKET_FAILURES}`;

const INSERTED = 'digest userId credentialsVersion methods data createdAt expiresAt'.split(' ');

/** Stores login tickets in the application's database. */
@Injectable()
export class SqlLoginTicketStore extends LoginTicketStore {
  private readonly insert;
  private readonly read;
  private readonly remove;
  private readonly select;
  private readonly countAttempt;
  private readonly lockProven;
  private readonly writeProven;
  private readonly endStreaks;
  private readonly readTicket;
  private readonly consumeTicket;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly locks: UserLock,
    private readonly events: EventLog,
  ) {
    super();
    const { dialect } = statements;
    const names = INSERTED.map((name) => `{ticket.${name}}`).join(', ');
    const values = INSERTED.map((name) => `:${name}`).join(', ');
    this.insert = statements.statement(`INSERT INTO {ticket} (${names}, {ticket.failureCount}) VALUES (${values}, 0)`);
    // Reads the row of the lock with the user's unexpired tickets.
    this.read = statements.statement(
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
    this.countAttempt = statements.statement(
      `UPDATE {ticket} SET {ticket.failureCount} = {ticket.failureCount} + 1
       WHERE {ticket.digest} = :digest AND ${VALID_TICKET}`,
    );
    // The failures of the ticket include the attempt whose proof is being stored, so the ticket may have
    // reached the limit.
    this.lockProven = statements.statement(
      `SELECT {ticket.methods} AS methods FROM {ticket}
       WHERE {ticket.digest} = :digest AND {ticket.expiresAt} > :now ${forUpdate(dialect)}`,
    );
    this.writeProven = statements.statement(
      `UPDATE {ticket} SET {ticket.methods} = :methods, {ticket.failureCount} = {ticket.failureCount} - 1
       WHERE {ticket.digest} = :digest AND {ticket.methods} = :methodsRead AND {ticket.failureCount} > 0`,
    );
    this.endStreaks = statements.prepared(endStreaks(dialect));
    const presented = `{ticket.digest} = :digest AND {ticket.userId} = :userId AND {ticket.methods} = :methods
      AND ${VALID_TICKET}`;
    this.readTicket = statements.statement(`SELECT 1 AS valid FROM {ticket} WHERE ${presented}`);
    this.consumeTicket = statements.statement(`DELETE FROM {ticket} WHERE ${presented}`);
  }

  *isValid(ticket: ParameterValues): Step<boolean> {
    return (yield* firstOf(this.readTicket.with(ticket))) !== null;
  }

  *consume(ticket: ParameterValues): Step<void> {
    yield* changeAll(this.consumeTicket.with(ticket), 1);
  }

  create(ticket: NewLoginTicket): Promise<boolean> {
    return this.database.transaction(null, () => this.createLocked(ticket), { retryUnknownCommit: true });
  }

  async find(digest: string, now: number): Promise<LoginTicket | null> {
    const [row] = (await this.database.run(null, this.select.with({ digest, now }))).rows;
    return row ? ticketFromRow(row) : null;
  }

  /**
   * Counts an attempt. If the statement is run again after a lost result, the attempt may count twice, which
   * is safer than allowing an extra guess.
   */
  async takeAttempt(digest: string, now: number): Promise<boolean> {
    return (await this.database.run(null, this.countAttempt.with({ digest, now }))).affected === 1;
  }

  recordProof(digest: string, method: string, keys: AttemptKeys, now: number): Promise<boolean> {
    const call: ProofCall = { digest, method, keys, now, written: null };
    return this.database.transaction(null, () => this.recordProofLocked(call), { retryUnknownCommit: true });
  }

  private *createLocked({ now, expiresAt, attempt, event, ...ticket }: NewLoginTicket): Transaction<boolean> {
    const { userId, digest } = ticket;
    // Without the lock, parallel logins would not see each other's tickets, and could exceed the limit.
    yield* this.locks.lock(userId);
    const rows = yield* rowsOf(this.read.with({ userId, now }));
    const stored = rows.filter((row) => row['digest'] !== null).map(ageFromRow);
    // If the response to COMMIT is lost, the next run finds the ticket that the first run has stored.
    if (stored.some((age) => age.digest === digest)) return true;
    if (Number(rows[0]?.['version']) !== ticket.credentialsVersion) return false;
    const digests = ticketsToRemove(stored, now);
    if (digests.length > 0) yield* affectedBy(this.remove.with({ userId, digests }));
    yield* affectedBy(this.insert.with({ ...ticket, createdAt: now, expiresAt }));
    if (attempt) yield* affectedBy(this.endStreaks.with({ ...attempt }));
    yield* this.events.write([event]);
    return true;
  }

  private *recordProofLocked(call: ProofCall): Step<boolean> {
    const { digest, method, keys, now } = call;
    const row = yield* firstOf(this.lockProven.with({ digest, now }));
    if (!row) return false;
    const methodsRead = String(row['methods']);
    // If the response to COMMIT is lost, the next run finds the methods that the first run has written.
    if (methodsRead === call.written) return true;
    const methods = withProvenMethods(methodsRead, [method], now);
    yield* changeAll(this.writeProven.with({ digest, methods, methodsRead }), 1);
    call.written = methods;
    yield* affectedBy(this.endStreaks.with({ ...keys }));
    return true;
  }
}

/**
 * A successful attempt that is being stored, and the methods that an earlier run of the transaction has
 * written.
 */
interface ProofCall {
  readonly digest: string;
  readonly method: string;
  readonly keys: AttemptKeys;
  readonly now: number;
  written: string | null;
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
