import { Injectable } from '@nestjs/common';
import type { AuthEventEntry } from '../domain/auth-event';
import type { ClientInfo } from '../domain/client';
import type { DeviceType } from '../domain/device';
import { actorOf } from '../domain/actor';
import { invalidField } from '../domain/errors';
import { canonicalIp } from '../domain/ip-address';
import type { HostTransactions, TransactionManager } from '../domain/ports/host-transactions';
import type { HistoryPosition, SessionCriteria, SessionDirectory } from '../domain/ports/session-directory';
import type { UserId, UserStore } from '../domain/ports/user-store';
import { viewSession, type Session } from '../domain/session';
import type { ClientInspector } from './client-inspector';
import { joining } from './in-transaction';
import type { SessionNotices } from './session-notices';

/** Which of all active sessions: those that meet everything that is given. */
export interface SessionFilter {
  readonly userId?: UserId;
  /** Logins before this instant. */
  readonly createdBefore?: Date;
  /** No activity since this instant. */
  readonly inactiveSince?: Date;
  /** In any spelling. */
  readonly ipAddress?: string;
  readonly deviceType?: DeviceType;
  readonly osFamily?: string;
  readonly browserFamily?: string;
}

/** A session of any user; none is the current one. */
export interface AdministeredSession extends Session {
  readonly userId: UserId;
}

/** Some of many, and where the next ones begin; null where there are none. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** Who ends sessions, and from where. */
export interface Administrator {
  /** A name or an id, which the user whose sessions end sees in the history; 255 characters at the most. */
  readonly actor: string;
  readonly client?: ClientInfo;
}

/** The calls that can take part in a transaction of the host's. */
export type AdministrationInTransaction = Pick<SessionAdministration, 'end'>;

const BATCH = 200;
const MOST_AT_ONCE = 1_000;

/**
 * The sessions and histories of all users, for those who administer them. Who may call this is the host's to decide.
 * (ASVS 7.4.5)
 */
@Injectable()
export class SessionAdministration {
  constructor(
    private readonly users: UserStore,
    private readonly inspector: ClientInspector,
    private readonly directory: SessionDirectory,
    private readonly notices: SessionNotices,
    private readonly transactions: HostTransactions,
  ) {}

  /** `end` as a part of a transaction of the host's, as with `AuthService.inTransaction`. */
  inTransaction(manager: TransactionManager): AdministrationInTransaction {
    return joining(this.transactions, manager, this, ['end']);
  }

  /** Active sessions, in pages: at most `limit` (100 by default, 1,000 at the most), behind the page that gave `after`. */
  async list(
    filter: SessionFilter = {},
    { limit = 100, after = '' }: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<Page<AdministeredSession>> {
    assertLimit(limit);
    const found = await this.directory.page(criteriaOf(filter), after, limit);
    const live = found.filter((session) => !this.notices.isOver(session));
    return {
      items: live.map((session) => ({ ...viewSession(session, null), userId: this.users.parseId(session.userId) })),
      next: found.length === limit ? found[found.length - 1]!.id : null,
    };
  }

  /**
   * Ends all sessions that meet the filter; how many. Each is recorded with its actor (`session_revoked`, reason `admin`).
   * All sessions of everyone are ended by `{ everyone: true }` alone: a filter that happens to be empty is an error.
   * @throws AuthError `invalid_field` for a filter without criteria, or with one that is undefined
   */
  async end(
    filter: SessionFilter | { readonly everyone: true },
    { actor, client = {} }: Administrator,
  ): Promise<number> {
    const criteria = 'everyone' in filter ? {} : criteriaOf(filter);
    if (!('everyone' in filter) && Object.keys(criteria).length === 0) {
      throw invalidField('filter', 'Name at least one criterion, or { everyone: true }.');
    }
    const name = actorOf(actor);
    const at = this.notices.circumstances(this.inspector.inspect(client));
    let total = 0;
    for (;;) {
      const ended = await this.directory.end(criteria, BATCH, name, at);
      this.notices.tellEnds(ended);
      total += ended.filter(({ reason }) => reason === 'admin').length;
      if (ended.length < BATCH) return total;
    }
  }

  /** The history of any user, newest first, in pages behind the one that gave `after`. */
  async history(
    userId: UserId,
    { limit = 100, after }: { readonly limit?: number; readonly after?: string } = {},
  ): Promise<Page<AuthEventEntry>> {
    assertLimit(limit);
    const items = await this.directory.history(String(userId), after === undefined ? null : positionOf(after), limit);
    const last = items[items.length - 1];
    return { items, next: last && items.length === limit ? `${last.timestamp.getTime()}-${last.id}` : null };
  }
}

function criteriaOf(filter: SessionFilter): SessionCriteria {
  for (const [name, value] of Object.entries(filter)) {
    // A variable that was never set must not widen what is ended.
    if (value === undefined || value === null) throw invalidField(name, 'This criterion has no value; leave it out.');
  }
  const { userId, createdBefore, inactiveSince, ipAddress, deviceType, osFamily, browserFamily } = filter;
  const ip = ipAddress === undefined ? undefined : canonicalIp(ipAddress);
  if (ip === null) throw invalidField('ipAddress', 'This is no address.');
  return {
    ...(userId === undefined ? {} : { userId: String(userId) }),
    ...(createdBefore === undefined ? {} : { createdBefore: instantOf('createdBefore', createdBefore) }),
    ...(inactiveSince === undefined ? {} : { inactiveSince: instantOf('inactiveSince', inactiveSince) }),
    ...(ip === undefined ? {} : { ipAddress: ip }),
    ...(deviceType === undefined ? {} : { deviceType }),
    ...(osFamily === undefined ? {} : { osFamily }),
    ...(browserFamily === undefined ? {} : { browserFamily }),
  };
}

function instantOf(name: string, date: Date): number {
  const at = date instanceof Date ? date.getTime() : NaN;
  if (Number.isNaN(at)) throw invalidField(name, 'This is no date.');
  return at;
}

function positionOf(after: string): HistoryPosition {
  const [, at, id] = /^(\d{1,16})-(\d{1,16})$/.exec(after) ?? [];
  if (at === undefined) throw invalidField('after', 'This is no position that a page gave.');
  return { at: Number(at), id: Number(id) };
}

function assertLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_AT_ONCE) return;
  throw invalidField('limit', `Write a whole number from 1 to ${MOST_AT_ONCE}.`);
}
