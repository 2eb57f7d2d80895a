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
import { isExpired, viewSession, type SessionInfo } from '../../domain/session';
import { joining } from '../in-transaction';
import { SessionLifecycle } from './session-lifecycle';

/** Criteria for active sessions. A session must match all that are given. */
export interface SessionFilter {
  readonly userId?: UserId;
  /** Logins before this instant. */
  readonly createdBefore?: Date;
  /** No activity since this instant. */
  readonly inactiveSince?: Date;
  /** In any textual form of the address. */
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** A session of any user; none is the current one. */
export interface AdministeredSession extends SessionInfo {
  readonly userId: UserId;
}

/** A page of results. Pass `next` as `after` to get the page behind it; null on the last page. */
export interface ResultPage<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Who ends sessions, and from where. */
export interface Administrator {
  /** A name or id for the history of the user whose sessions end, at most 255 characters. */
  readonly actor: string;
  readonly client?: ClientInfo;
}

/** The calls that can take part in a transaction of the application. */
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

const BATCH = 200;
const MAX_PAGE_SIZE = 1_000;

/** The sessions and histories of all users. The application decides who may call this. (ASVS 7.4.5) */
@Injectable()
export class SessionAdministration {
  constructor(
    private readonly users: UserStore,
    private readonly directory: SessionDirectory,
    private readonly lifecycle: SessionLifecycle,
    private readonly transactions: ApplicationTransactions,
  ) {}

  /** `end` as a part of a transaction, as with `AuthService.inTransaction`. */
  inTransaction(manager: TransactionManager): AdministrationInTransaction {
    return joining(this.transactions, manager, this, ['end']);
  }

  /**
   * A page of active sessions, in the order of their ids: `limit` of them (100 by default, 1,000 at most) behind `after`.
   * @throws AuthError `invalid_field`, also for an `after` that is not the `next` of a page
   */
  async list(
    filter: SessionFilter = {},
    { limit = 100, after }: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<ResultPage<AdministeredSession>> {
    assertLimit(limit);
    if (after !== undefined && !UUID.test(after)) throw invalidPage();
    const { items, next } = pageOf(await this.directory.page(criteriaOf(filter), after ?? '', limit + 1), limit);
    const live = items.filter((session) => !isExpired(session, this.lifecycle.now()));
    return {
      items: live.map((session) => ({ ...viewSession(session, null), userId: this.users.parseId(session.userId) })),
      next,
    };
  }

  /**
   * Ends all active sessions that meet the filter, and returns how many. Each is recorded with its actor
   * (`session_revoked`, reason `admin`). Those that have expired by then end as such: they are neither
   * counted nor recorded. `{ everyone: true }`, with nothing else, ends the sessions of all users.
   * @throws AuthError `invalid_field` for a filter without criteria, or with one that is unknown or undefined
   */
  async end(
    filter: SessionFilter | { readonly everyone: true },
    { actor, client = {} }: Administrator,
  ): Promise<number> {
    const criteria = endCriteriaOf(filter);
    const name = actorOf(actor);
    const context = this.lifecycle.operationContext(client);
    let total = 0;
    // Each batch begins behind the one before it. It would otherwise pass all the rows that have ended again.
    for (let after = ''; ;) {
      const ended = await this.directory.end(criteria, after, BATCH, name, context);
      this.lifecycle.publishSessionEnded(ended);
      total += ended.filter(({ reason }) => reason === 'admin').length;
      if (ended.length < BATCH) return total;
      after = ended.at(-1)!.session.id;
    }
  }

  /** A page of the history of any user, newest first. */
  async history(
    userId: UserId,
    { limit = 100, after }: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<ResultPage<AuthEventEntry>> {
    assertLimit(limit);
    const before = after === undefined ? Infinity : eventIdOf(after);
    const found = await this.directory.history(String(userId), { before, events: null, most: limit + 1 });
    return pageOf(found, limit);
  }
}

function endCriteriaOf(filter: SessionFilter | { readonly everyone: true }): SessionCriteria {
  if ('everyone' in filter) {
    // The types do not keep a variable that is false or undefined out, and it must not end the sessions of all users.
    if ((filter.everyone as unknown) === true && Object.keys(filter).length === 1) return {};
    throw invalidField('everyone', 'Write { everyone: true } with nothing else, or name criteria without it.');
  }
  const criteria = criteriaOf(filter);
  if (Object.keys(criteria).length > 0) return criteria;
  throw invalidField('filter', 'Name at least one criterion, or { everyone: true }.');
}

function criteriaOf(filter: SessionFilter): SessionCriteria {
  for (const [name, value] of Object.entries(filter)) {
    // Neither a misspelt criterion nor a variable that was never set must widen what is ended.
    if (!CRITERIA.has(name)) throw invalidField(name, `Not a criterion. Write one of ${[...CRITERIA].join(', ')}.`);
    if (value === undefined || value === null) throw invalidField(name, 'This criterion has no value; leave it out.');
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
  return invalidField('after', 'Pass the `next` of a page.');
}

/** The page, of one row more than its limit: without that row, it is the last one. */
function pageOf<T extends { readonly id: string | number }>(found: readonly T[], limit: number): ResultPage<T> {
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? String(items.at(-1)!.id) : null };
}

function assertLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return;
  throw invalidField('limit', `Write a whole number from 1 to ${MAX_PAGE_SIZE}.`);
}
