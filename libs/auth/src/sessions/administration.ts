import { Injectable } from '@nestjs/common';
import type { DeviceType } from '../adapters/device-detector';
import type { ClientInfo } from '../adapters/second-factor';
import { type UserId, UserStore } from '../adapters/user-store';
import { type AuthError, invalidField } from '../base/errors';
import { actorOf, UUID } from '../base/fields';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { inApplicationTransaction } from '../database/in-transaction';
import { ApplicationTransactions, type TransactionManager } from '../database/joined-transaction';
import { columns, type Statement, StatementFactory } from '../database/statements';
import { rowsOf, type Transaction } from '../database/transaction';
import { canonicalIp, type OperationContext } from '../history/client';
import type { WriteEvents } from '../history/event-log';
import { type AuthEventEntry, eventFromRow, HISTORY_SEARCH_LIMIT, type HistoryCriteria } from '../history/history';
import type { SessionInfo } from '../history/signals';
import { UserLocks } from '../users/user-lock';
import { endEvents, SessionRevocation } from './end-sessions';
import { SessionLifecycle } from './lifecycle';
import {
  type EndedSession,
  isExpired,
  sessionFromRow,
  type SessionRecord,
  toEndedSessionAt,
  toSessionInfo,
} from './session';

/**
 * Selects active sessions of all users. A criterion that is omitted matches every session. Instants are
 * milliseconds since 1970-01-01T00:00:00Z.
 */
export interface SessionCriteria {
  readonly userId?: string;
  readonly createdBefore?: number;
  readonly inactiveSince?: number;
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** The history of each user, and the sessions of all users for administrators. */
export abstract class SessionDirectory {
  /** Returns active sessions with ids greater than `after`, in the order of their ids. */
  abstract page(criteria: SessionCriteria, after: string, limit: number): Promise<readonly SessionRecord[]>;
  /** Ends at most `limit` sessions in one transaction and records the actor. Selects the same sessions as `page`. */
  abstract end(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    context: OperationContext,
  ): Promise<readonly EndedSession[]>;
  /** Returns events of the user, newest first. @param userId the id as text */
  abstract history(userId: string, criteria: HistoryCriteria): Promise<readonly AuthEventEntry[]>;
}

/** Criteria for active sessions. A session must match every criterion that is set. */
export interface SessionFilter {
  readonly userId?: UserId;
  /** Matches sessions that were opened before this instant. */
  readonly createdBefore?: Date;
  /** Matches sessions whose stored last activity is before this instant. */
  readonly inactiveSince?: Date;
  /** The IP address of the login. An IPv6 address may have any textual form. */
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** A session of any user. `isCurrent` is always false. */
export interface AdministeredSession extends SessionInfo {
  readonly userId: UserId;
}

/**
 * A page of results. Pass `next` as `after` to get the next page. `next` is null on the last page. A page of
 * sessions may have fewer items than the limit, or none, even if it is not the last page.
 */
export interface ResultPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** The administrator who ends sessions. */
export interface Administrator {
  /**
   * The name or id of the administrator, 1 to 255 characters. Recorded in the histories of the
   * users.
   */
  readonly actor: string;
  /** The client of the administrator. Default: an unknown client. */
  readonly client?: ClientInfo;
}

/** The methods of `SessionAdministration` that can take part in the application's transaction. */
export type AdministrationInTransaction = Pick<SessionAdministration, 'end'>;

const CRITERIA: ReadonlySet<string> = new Set<keyof SessionFilter>([
  'userId',
  'createdBefore',
  'inactiveSince',
  'ipAddress',
  'deviceType',
  'osFamily',
  'browserFamily',
]);

const BATCH_SIZE = 200;

const MAX_PAGE_SIZE = 1_000;

/**
 * Lists and ends the sessions of all users, and reads the users' histories. Your application decides who may call
 * these methods. (ASVS 7.4.5)
 */
@Injectable()
export class SessionAdministration {
  /** @internal */
  constructor(
    private readonly users: UserStore,
    private readonly directory: SessionDirectory,
    private readonly lifecycle: SessionLifecycle,
    private readonly transactions: ApplicationTransactions,
  ) {}

  /**
   * Returns an object with the method `end`. Calls of this method take part in your transaction, as
   * with `AuthService.inTransaction`.
   * @throws Error if the manager has no open transaction, or belongs to another DataSource
   */
  inTransaction(manager: TransactionManager): AdministrationInTransaction {
    return inApplicationTransaction(this.transactions, manager, this, ['end']);
  }

  /**
   * Returns a page of the active sessions that match the filter, ordered by id.
   * @param filter default: all active sessions
   * @param page `limit`: the maximum number of sessions, 1 to 1,000. Default: 100. `after`: the `next` of the previous
   *   page. Default: the first page
   * @throws AuthError `invalid_field`, `database_unavailable`
   */
  async list(
    filter: SessionFilter = {},
    page: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<ResultPage<AdministeredSession>> {
    const { limit = 100, after } = page;
    assertLimit(limit);
    if (after !== undefined && !UUID.test(after)) throw invalidPage();
    const { items, next } = pageOf(await this.directory.page(criteriaOf(filter), after ?? '', limit + 1), limit);
    const live = items.filter((session) => !isExpired(session, this.lifecycle.now()));
    return {
      items: live.map((session) => ({ ...toSessionInfo(session, null), userId: this.users.parseId(session.userId) })),
      next,
    };
  }

  /**
   * Ends all active sessions that match the filter, and returns their number. For each session, records a
   * `session_revoked` event with the reason `admin` and the actor. Expired sessions are neither
   * counted nor recorded. Sessions end in batches. Outside `inTransaction`, each batch is committed
   * on its own.
   * @param filter criteria, or `{ everyone: true }` alone to end the sessions of all users
   * @throws AuthError `invalid_field` if the filter is empty, a criterion is unknown or invalid, or
   *   the actor is invalid
   * @throws AuthError `database_unavailable`. Committed batches are not rolled back. Repeat the
   *   call to end the rest
   */
  async end(
    filter: SessionFilter | { readonly everyone: true },
    { actor, client = {} }: Administrator,
  ): Promise<number> {
    const criteria = endCriteriaOf(filter);
    const name = actorOf(actor);
    const context = this.lifecycle.operationContext(client);
    let total = 0;
    // Each batch starts after the previous batch. Otherwise each batch would read the sessions of all previous
    // batches again.
    for (let after = ''; ;) {
      const ended = await this.directory.end(criteria, after, BATCH_SIZE, name, context);
      this.lifecycle.publishSessionEnded(ended);
      total += ended.filter(({ reason }) => reason === 'admin').length;
      if (ended.length < BATCH_SIZE) return total;
      after = ended.at(-1)!.session.id;
    }
  }

  /** Returns a page of a user's history, newest first. `limit`, `after` and errors are the same as for `list`. */
  async history(
    userId: UserId,
    { limit = 100, after }: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<ResultPage<AuthEventEntry>> {
    assertLimit(limit);
    const before = after === undefined ? Infinity : eventIdOf(after);
    const found = await this.directory.history(String(userId), { before, events: null, limit: limit + 1 });
    return pageOf(found, limit);
  }
}

function endCriteriaOf(filter: SessionFilter | { readonly everyone: true }): SessionCriteria {
  if ('everyone' in filter) {
    // Despite its type, the value may be false or undefined at run time. Such a value must not end the sessions of
    // all users.
    if ((filter.everyone as unknown) === true && Object.keys(filter).length === 1) return {};
    throw invalidField('everyone', 'Pass { everyone: true } alone, or pass criteria without `everyone`.');
  }
  const criteria = criteriaOf(filter);
  if (Object.keys(criteria).length > 0) return criteria;
  throw invalidField('filter', 'The filter is empty. Set at least one criterion, or pass { everyone: true }.');
}

function criteriaOf(filter: SessionFilter): SessionCriteria {
  for (const [name, value] of Object.entries(filter)) {
    // A misspelled criterion or an undefined variable must not match more sessions than intended.
    if (!CRITERIA.has(name)) throw invalidField(name, `Unknown criterion. Use any of ${[...CRITERIA].join(', ')}.`);
    if (value === undefined || value === null)
      throw invalidField(name, 'This criterion has no value. Set a value or omit the criterion.');
  }
  const { userId, createdBefore, inactiveSince, ipAddress, deviceType, osFamily, browserFamily } = filter;
  const ip = ipAddress === undefined ? undefined : canonicalIp(ipAddress);
  if (ip === null) throw invalidField('ipAddress', 'Not a valid IP address.');
  const criteria = {
    userId: userId === undefined ? undefined : String(userId),
    createdBefore: createdBefore && instantOf('createdBefore', createdBefore),
    inactiveSince: inactiveSince && instantOf('inactiveSince', inactiveSince),
    ipAddress: ip,
    ...{ deviceType, osFamily, browserFamily },
  };
  return Object.fromEntries(Object.entries(criteria).filter(([, value]) => value !== undefined));
}

function instantOf(name: string, date: Date): number {
  const at = date instanceof Date ? date.getTime() : NaN;
  if (Number.isNaN(at)) throw invalidField(name, 'Not a valid date.');
  return at;
}

function eventIdOf(after: string): number {
  if (!/^\d{1,16}$/.test(after)) throw invalidPage();
  return Number(after);
}

function invalidPage(): AuthError {
  return invalidField('after', 'Not a valid cursor. Pass the `next` of a page.');
}

/** Returns the page of the found rows. If a next page exists, `found` has one row more than the limit. */
function pageOf<T extends { readonly id: string | number }>(found: readonly T[], limit: number): ResultPage<T> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? String(items.at(-1)!.id) : null };
}

function assertLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return;
  throw invalidField('limit', `Must be an integer from 1 to ${MAX_PAGE_SIZE}.`);
}

/** The condition of each criterion. A statement contains the conditions of the given criteria. */
const CONDITIONS: Readonly<Record<keyof SessionCriteria, string>> = {
  userId: 's.{session.userId} = :userId',
  createdBefore: 's.{session.createdAt} < :createdBefore',
  inactiveSince: 's.{session.lastActivity} < :inactiveSince',
  ipAddress: 's.{session.ipAddress} = :ipAddress',
  deviceType: 's.{session.deviceType} = :deviceType',
  osFamily: 's.{session.osFamily} = :osFamily',
  browserFamily: 's.{session.browserFamily} = :browserFamily',
};

/** Reads and ends sessions, and reads histories, in the application's database. */
@Injectable()
export class SqlSessionDirectory extends SessionDirectory {
  private readonly historyBefore;
  private readonly eventsBefore;

  constructor(
    private readonly database: Database,
    private readonly statements: StatementFactory,
    private readonly revocation: SessionRevocation,
    private readonly locks: UserLocks,
  ) {
    super();
    const fields = (alias: string): string => columns('event', 'id event ipAddress userAgent extra occurredAt', alias);
    const before = 'FROM {event} WHERE {event.userId} = :userId AND {event.id} < :before ORDER BY {event.id} DESC';
    this.historyBefore = statements.statement(`SELECT ${fields('')} ${before} LIMIT :limit`);
    // The names of events have no index. Without the limit of the subquery, the statement could
    // read all events of the user to find a rare event.
    this.eventsBefore = statements.statement(
      `SELECT ${fields('e.')} FROM (SELECT {event.id}, {event.event} ${before} LIMIT ${HISTORY_SEARCH_LIMIT}) newest
         INNER JOIN {event} e ON e.{event.id} = newest.{event.id}
       WHERE newest.{event.event} IN (:events...) ORDER BY newest.{event.id} DESC LIMIT :limit`,
    );
  }

  async page(criteria: SessionCriteria, after: string, limit: number): Promise<readonly SessionRecord[]> {
    const statement = this.select(criteria, '');
    return (await this.database.autocommit(statement.with({ ...criteria, after, limit }))).rows.map(sessionFromRow);
  }

  async end(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    context: OperationContext,
  ): Promise<readonly EndedSession[]> {
    const isFirstOfEveryone = Object.keys(criteria).length === 0 && after === '';
    // Not part of a batch, because a login can lock sessions before it locks its ticket.
    if (isFirstOfEveryone) await this.database.autocommit(this.locks.revocationOfAllLoginTickets());
    return this.revocation.run((write) => this.endBatch(criteria, after, limit, actor, context, write));
  }

  async history(userId: string, { before, events, limit }: HistoryCriteria): Promise<readonly AuthEventEntry[]> {
    const values = { userId, before: Math.min(before, Number.MAX_SAFE_INTEGER), limit };
    const query = events ? this.eventsBefore.with({ ...values, events }) : this.historyBefore.with(values);
    return (await this.database.autocommit(query)).rows.map(eventFromRow);
  }

  /**
   * Ends a batch of sessions. Locks them in the order of their ids. Locks the row of the user's
   * lock only if the criteria select all sessions of one user, because a batch can affect many
   * users. Outside the application's transaction, batches that conflict are run again.
   */
  private *endBatch(
    criteria: SessionCriteria,
    after: string,
    limit: number,
    actor: string,
    { now, client }: OperationContext,
    write: WriteEvents,
  ): Transaction<readonly EndedSession[]> {
    const isAllOfUser = Object.keys(criteria).length === 1 && criteria.userId !== undefined;
    // A login locks the same row before it opens a session. The session therefore opens either before
    // the sessions are read here, or after this batch.
    if (isAllOfUser) yield* this.locks.revokeLogins(criteria.userId);
    const statement = this.select(criteria, forUpdate(this.statements.dialect));
    const found = (yield* rowsOf(statement.with({ ...criteria, after, limit }))).map(sessionFromRow);
    const ended = found.map((session) => toEndedSessionAt(session, now, 'admin'));
    yield* this.revocation.storeEnded(ended, now, criteria);
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  private select(criteria: SessionCriteria, lock: string): Statement {
    const given = Object.keys(criteria).map((name) => CONDITIONS[name as keyof SessionCriteria]);
    const conditions = ["s.{session.state} = 'active'", 's.{session.id} > :after', ...given].join(' AND ');
    return this.statements.selectSession(`WHERE ${conditions} ORDER BY s.{session.id} LIMIT :limit ${lock}`);
  }
}
