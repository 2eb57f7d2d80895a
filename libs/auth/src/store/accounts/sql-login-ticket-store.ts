import { Injectable } from '@nestjs/common';
import type { AttemptKeys } from '../../domain/failure-streak';
import { type LoginTicket, MAX_TICKET_FAILURES, type TicketAge, ticketsToRemove } from '../../domain/login-ticket';
import { LoginTicketStore, type NewLoginTicket } from '../../domain/ports/login-tickets';
import { withProvenMethods } from '../../domain/proofs';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { PROOF_COLUMNS, proofsFromRow } from '../database/rows';
import { columns } from '../database/statement';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, changeAll, firstOf, rowsOf, type Row, type Step, type Transaction } from '../database/transaction';
import { EventWriter } from '../events/event-writer';
import { endStreaks } from './sql-login-attempt-store';
import { UserLocks } from './user-locks';

const INSERTED = 'digest userId credentialsVersion methods data createdAt expiresAt'.split(' ');

/** The condition for a ticket that has neither expired nor reached the maximum number of failures. */
export const VALID_TICKET = `{ticket.expiresAt} > :now AND {ticket.failureCount} < ${MAX_TICKET_FAILURES}`;

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

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly locks: UserLocks,
    private readonly events: EventWriter,
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
  }

  create(ticket: NewLoginTicket): Promise<boolean> {
    return this.database.transaction(() => this.createLocked(ticket), { retryUnknownCommit: true });
  }

  async find(digest: string, now: number): Promise<LoginTicket | null> {
    const [row] = (await this.database.autocommit(this.select.with({ digest, now }))).rows;
    return row ? ticketFromRow(row) : null;
  }

  /**
   * Counts an attempt. If the statement is run again after a lost result, the attempt may count twice, which
   * is safer than allowing an extra guess.
   */
  async takeAttempt(digest: string, now: number): Promise<boolean> {
    return (await this.database.autocommit(this.countAttempt.with({ digest, now }))).affected === 1;
  }

  recordProof(digest: string, method: string, keys: AttemptKeys, now: number): Promise<boolean> {
    const call: ProofCall = { digest, method, keys, now, written: null };
    return this.database.transaction(() => this.recordProofLocked(call), { retryUnknownCommit: true });
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
