import { Injectable } from '@nestjs/common';
import { DEVICE_TYPES, type DeviceType } from '../adapters/device-detector';
import type { ClientInfo } from '../adapters/second-factor';
import type { UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, invalidField } from '../base/errors';
import { actorOf, USERNAME_LENGTH, usernameProblem, UUID } from '../base/fields';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import {
  ApplicationTransactions,
  type JoinedTransaction,
  type TransactionManager,
} from '../database/joined-transaction';
import { type Statement, StatementFactory } from '../database/statements';
import { type Query, rowsOf } from '../database/transaction';
import { canonicalIp, type Client, ClientInspector, EventLog, type WriteEvents } from '../history/event-log';
import { type AuthEventEntry, History } from '../history/history';
import type { SessionInfo } from '../history/signals';
import { Users } from '../users/users';
import { ApiKeys, type CreatedApiKey, type NewApiKey } from './api-keys';
import { Authenticate, type AuthPrincipal } from './authenticate';
import { endEvents, EndSessions } from './end-sessions';
import { Impersonate, type Impersonation } from './impersonate';
import { isExpired, sessionFromRow, SessionSql, toEndedSession, toSessionInfo, UserLock } from './session';

/** Criteria for active sessions, all of which a session must match. */
export interface SessionFilter {
  readonly userId?: UserId;
  /** Matches sessions opened before this instant. */
  readonly createdBefore?: Date;
  /** Matches sessions whose stored last activity is before this instant. */
  readonly inactiveSince?: Date;
  /**
   * The IP address of the login. An IPv6 address may have any textual form. With `trackIps: 'truncated'`, matches the
   * whole /24 or /48 of the address.
   */
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
 * A page of results. Pass `next` as `after` to get the next page. `next` is null on the last page. A page of sessions may
 * have fewer items than the limit, or none, even if it is not the last page.
 */
export interface ResultPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

interface PageRequest {
  readonly limit?: number;
  readonly after?: string;
}

/** The administrator who ends sessions, or creates or revokes API keys. */
export interface Administrator {
  /** A name or id of 1 to 255 characters. Recorded in the histories of the users. */
  readonly actor: string;
  /** The client of the administrator. Default: an unknown client. */
  readonly client?: ClientInfo;
}

/** The methods of `SessionAdministration` that can take part in the application's transaction. */
export type AdministrationInTransaction = Pick<SessionAdministration, 'end'>;

const CONDITIONS: Readonly<Record<keyof SessionFilter, string>> = {
  userId: 's.{session.userId} = :userId',
  createdBefore: 's.{session.createdAt} < :createdBefore',
  inactiveSince: 's.{session.lastActivity} < :inactiveSince',
  ipAddress: 's.{session.ipAddress} = :ipAddress',
  deviceType: 's.{session.deviceType} = :deviceType',
  osFamily: 's.{session.osFamily} = :osFamily',
  browserFamily: 's.{session.browserFamily} = :browserFamily',
};

/** Instants are in milliseconds. */
type Criteria = Partial<Record<keyof SessionFilter, string | number>>;

const BATCH_SIZE = 200;
const MAX_PAGE_SIZE = 1_000;

/**
 * Lists and ends the sessions of all users, acts as a user, creates API keys, and reads histories. Your application
 * decides who may call these methods. (ASVS 7.4.5)
 */
@Injectable()
export class SessionAdministration {
  private readonly revokeAllTickets: Query;
  /** The application's transaction. Set only in the object that `inTransaction` uses. */
  private readonly tx: JoinedTransaction | null = null;

  /** @internal */
  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly sql: SessionSql,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly events: EventLog,
    private readonly histories: History,
    private readonly clients: ClientInspector,
    private readonly transactions: ApplicationTransactions,
    private readonly keys: ApiKeys,
    private readonly clock: Clock,
    private readonly authentication: Authenticate,
    private readonly impersonations: Impersonate,
  ) {
    this.revokeAllTickets = statements.statement('DELETE FROM {ticket}').with({});
  }

  /**
   * Returns an object whose method `end` takes part in your transaction, as with `AuthService.inTransaction`.
   * @throws Error if the manager has no open transaction, or belongs to another DataSource
   */
  inTransaction(manager: TransactionManager): AdministrationInTransaction {
    const tx = this.transactions.join(manager);
    const joined = Object.create(this, { tx: { value: tx } }) as SessionAdministration;
    return { end: (filter, administrator) => joined.end(filter, administrator) };
  }

  /**
   * Returns a page of the active sessions that match the filter, ordered by id.
   * @param filter default: all active sessions
   * @param page `limit`: the maximum number of sessions, 1 to 1,000. Default: 100. `after`: the `next` of the previous
   *   page. Default: the first page
   * @throws AuthError `invalid_field`, `database_unavailable`
   */
  async list(filter: SessionFilter = {}, page: PageRequest = {}): Promise<ResultPage<AdministeredSession>> {
    const { limit, after } = checkedPage(page, UUID);
    const criteria = this.withStoredAddress(criteriaOf(filter));
    const query = this.select(criteria, '').with({ ...criteria, after: after ?? '', limit: limit + 1 });
    const { items, next } = pageOf((await this.database.run(null, query)).rows.map(sessionFromRow), limit);
    const live = await this.authentication.withLiveActors(items.filter((one) => !isExpired(one, this.clock.now())));
    return {
      items: live.map((session) => ({ ...toSessionInfo(session, null), userId: this.users.parseId(session.userId) })),
      next,
    };
  }

  /**
   * Ends all active sessions that match the filter, in batches that are committed separately, and returns their number.
   * Records `session_revoked` events with the reason `admin` and the actor. Expired sessions do not count.
   * @param filter criteria, or `{ everyone: true }` alone to end the sessions of all users
   * @throws AuthError `invalid_field` if the filter is empty, a criterion is unknown or invalid, or the actor is invalid
   * @throws AuthError `database_unavailable`. Committed batches are not rolled back. Repeat the call to end the rest
   */
  async end(filter: SessionFilter | { readonly everyone: true }, administrator: Administrator): Promise<number> {
    const { tx } = this;
    const criteria = this.withStoredAddress(endCriteriaOf(filter));
    const name = actorOf(administrator.actor);
    const client = this.clients.inspect(administrator.client ?? {});
    // Not part of a batch, because a login can lock sessions before it locks its ticket.
    if (Object.keys(criteria).length === 0) await this.database.run(tx, this.revokeAllTickets);
    let total = 0;
    // Each batch starts after the previous one. Otherwise each would read the sessions of all previous batches again.
    for (let after = ''; ;) {
      const from = after;
      const ended = await this.events.revoke(tx, (write) => this.endBatch(criteria, from, name, client, write));
      this.endSessions.publish(ended, tx);
      total += ended.filter(({ reason }) => reason === 'admin').length;
      if (ended.length < BATCH_SIZE) return total;
      after = ended.at(-1)!.session.id;
    }
  }

  /** Returns a page of a user's history, newest first. `limit`, `after` and errors are the same as for `list`. */
  async history(userId: UserId, page: PageRequest = {}): Promise<ResultPage<AuthEventEntry>> {
    const { limit, after } = checkedPage(page, /^\d{1,16}$/);
    return pageOf(await this.histories.page(userIdOf(userId), Number(after ?? Infinity), limit + 1), limit);
  }

  /**
   * Creates an API key for a user. The event names the administrator. `ApiKeys` lists and revokes the keys of users.
   * @throws AuthError `unknown_user`, also if the user is not active; `api_key_limit_reached`; `invalid_field`
   */
  createApiKey(userId: UserId, key: NewApiKey, administrator: Administrator): Promise<CreatedApiKey> {
    return this.keys.createFor(userId, key, administrator);
  }

  /**
   * Opens a session in which the administrator acts as the user, if the option `impersonationPolicy` allows it. The session
   * ends with the administrator's own session at the latest. It has no refresh token, and is no login of the user: neither
   * the login policy nor the session policy applies. Both histories record its start and its end.
   * @param principal the administrator, in a session of their own
   * @param request `reason`: 1 to 255 characters, which the user can read in their history. `seconds`: how long the session
   *   lasts, 1 to 3600. Default: 900. `client`: the client of the administrator, for the administrator's history
   * @throws AuthError `impersonation_refused`; `unknown_user`, also if the user is not active; `access_token_invalid` if the
   *   administrator's session has ended; `not_allowed_while_impersonating`; `session_required`; `invalid_field`;
   *   `database_unavailable`, also if the policy fails
   * @throws Error without the option `impersonationPolicy`
   */
  impersonate(
    principal: AuthPrincipal,
    userId: UserId,
    request: { readonly reason: string; readonly seconds?: number; readonly client?: ClientInfo },
  ): Promise<Impersonation> {
    return this.impersonations.open(principal, userIdOf(userId), request);
  }

  /** Ends a batch of sessions. Takes the user's lock only if the criteria select all sessions of one user. */
  private *endBatch(criteria: Criteria, after: string, actor: string, client: Client, write: WriteEvents) {
    const { userId } = criteria;
    // A login locks the same row before it opens a session. The session therefore opens either before the sessions are
    // read here, or after this batch.
    if (userId !== undefined && Object.keys(criteria).length === 1) {
      yield* this.lock.lock(String(userId));
      yield* this.lock.revokeLogins(String(userId));
    }
    const statement = this.select(criteria, forUpdate(this.database.dialect));
    const rows = yield* rowsOf(statement.with({ ...criteria, after, limit: BATCH_SIZE }));
    const now = this.clock.now();
    const ended = rows.map((row) => toEndedSession(sessionFromRow(row), now, 'admin'));
    yield* this.endSessions.storeEnded(ended, now, { inactiveSince: criteria.inactiveSince as number | undefined });
    yield* write(endEvents(ended, client, now, actor));
    return ended;
  }

  /** With `trackIps: 'truncated'`, finds the sessions whose truncated address is that of the given one. */
  private withStoredAddress(criteria: Criteria): Criteria {
    const { ipAddress } = criteria;
    if (ipAddress === undefined) return criteria;
    return { ...criteria, ipAddress: this.clients.trackedAddress(String(ipAddress)) ?? ipAddress };
  }

  private select(criteria: Criteria, lock: string): Statement {
    const given = Object.keys(criteria).map((name) => CONDITIONS[name as keyof SessionFilter]);
    const conditions = ["s.{session.state} = 'active'", 's.{session.id} > :after', ...given].join(' AND ');
    return this.sql.select(`WHERE ${conditions} ORDER BY s.{session.id} LIMIT :limit ${lock}`);
  }
}

function endCriteriaOf(filter: SessionFilter | { readonly everyone: true }): Criteria {
  const given = Object(filter) as SessionFilter & { readonly everyone?: unknown };
  if ('everyone' in given) {
    // Despite its type, the value may be false or undefined, which must not end the sessions of all users.
    if (given.everyone === true && Object.keys(given).length === 1) return {};
    throw invalidField('everyone', 'Pass { everyone: true } alone, or pass criteria without `everyone`.');
  }
  const criteria = criteriaOf(filter as SessionFilter);
  if (Object.keys(criteria).length > 0) return criteria;
  throw invalidField('filter', 'The filter is empty. Set at least one criterion, or pass { everyone: true }.');
}

function criteriaOf(filter: SessionFilter): Criteria {
  if (Object(filter) !== filter || Array.isArray(filter)) throw invalidField('filter', 'Must be an object.');
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, criterionOf(name, value)]));
}

/** A misspelled criterion, an undefined variable or a value of another type must not match more sessions than intended. */
function criterionOf(name: string, value: unknown): string | number {
  if (!Object.hasOwn(CONDITIONS, name))
    throw invalidField(name, `Unknown criterion. Use any of ${Object.keys(CONDITIONS).join(', ')}.`);
  if (value === undefined || value === null)
    throw invalidField(name, 'This criterion has no value. Set a value or omit the criterion.');
  if (name === 'userId') return userIdOf(value);
  if (name === 'deviceType') return deviceTypeOf(value);
  if (name === 'createdBefore' || name === 'inactiveSince') {
    if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime();
    throw invalidField(name, 'Not a valid date.');
  }
  const text = name === 'ipAddress' ? canonicalIp(textOf(name, value)) : textOf(name, value);
  if (text === null) throw invalidField('ipAddress', 'Not a valid IP address.');
  return text;
}

function deviceTypeOf(value: unknown): string {
  if ((DEVICE_TYPES as readonly unknown[]).includes(value)) return value as string;
  throw invalidField('deviceType', `Use one of ${DEVICE_TYPES.join(', ')}.`);
}

function userIdOf(id: unknown): string {
  return typeof id === 'number' || typeof id === 'bigint' ? String(id) : textOf('userId', id);
}

function textOf(name: string, text: unknown): string {
  assertValidField(name, usernameProblem(text, USERNAME_LENGTH));
  return text as string;
}

function checkedPage({ limit = 100, after }: PageRequest, cursor: RegExp): PageRequest & { readonly limit: number } {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalidField('limit', `Must be an integer from 1 to ${MAX_PAGE_SIZE}.`);
  if (after === undefined) return { limit };
  if (typeof after !== 'string' || !cursor.test(after))
    throw invalidField('after', 'Not a valid cursor. Pass the `next` of a page.');
  return { limit, after };
}

/** Returns the page of the found rows. If a next page exists, `found` has one row more than the limit. */
function pageOf<T extends { readonly id: string | number }>(found: readonly T[], limit: number): ResultPage<T> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? String(items.at(-1)!.id) : null };
}
