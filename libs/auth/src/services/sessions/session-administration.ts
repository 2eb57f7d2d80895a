import { Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../../domain/auth-event';
import type { ClientInfo } from '../../domain/client';
import type { DeviceType } from '../../domain/device';
import { actorOf } from '../../domain/actor';
import { type AuthError, invalidField } from '../../domain/errors';
import { UUID } from '../../domain/fields';
import { canonicalIp } from '../../domain/ip-address';
import { ApplicationTransactions, type TransactionManager } from '../../domain/ports/platform';
import { type SessionCriteria, SessionDirectory } from '../../domain/ports/sessions';
import { type UserId, UserStore } from '../../domain/ports/accounts';
import { isExpired, toSessionInfo, type SessionInfo } from '../../domain/session';
import { inApplicationTransaction } from '../in-transaction';
import { SessionLifecycle } from './session-lifecycle';

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
