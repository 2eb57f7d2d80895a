import { Injectable } from '@nestjs/common';
import type { UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { invalidField } from '../base/errors';
import { Database } from '../database/database';
import type { AuthEventName } from '../database/entities';
import { columns, type Statement, StatementFactory } from '../database/statements';
import { firstEventIdAt } from '../history/event-log';
import { assertEventNames, assertIntegerWithin, type AuthEventEntry, eventFromRow } from '../history/history';
import { Users } from '../users/users';

/** An event of any user. */
export interface AuthEventOfUser extends AuthEventEntry {
  /** Null for a login with an unknown username. */
  readonly userId: UserId | null;
}

/** Selects events of all users. */
export interface AuthEventsRequest {
  /** The `next` of the last page. Default: 0, for all stored events. */
  readonly after?: number;
  /** The maximum number of events, from 1 to 1,000. Default: 100. */
  readonly limit?: number;
  /** Only the events of this user. Default: of all users, and of unknown usernames. */
  readonly userId?: UserId;
  /** Only events with these names. Default: all names. */
  readonly events?: readonly AuthEventName[];
}

/** A page of events, in ascending order of their ids. */
export interface AuthEventsPage {
  readonly events: readonly AuthEventOfUser[];
  /** The `after` of the next page, also if this one is empty. Store it after the events, or together with them. */
  readonly next: number;
  /** Whether to read the next page at once. It can be empty. */
  readonly hasMore: boolean;
  /** The id of the oldest stored event of any user. If it is above your `next`, pruning may have removed unread events. */
  readonly oldestId: number | null;
}

/** A transaction that takes longer than this may commit an event that the feed has already passed. */
const MAX_TRANSACTION_MS = 60_000;

/** Limits the time of a statement that looks for rare names, which have no index. */
const MAX_ROWS_SEARCHED = 10_000;

const RANGE = '{event.id} > :after AND {event.id} < :until';

/** Reads the events of all users, for example to send them to another system. */
@Injectable()
export class AuthEvents {
  private readonly searched;
  private readonly oldest;

  /** @internal */
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly statements: StatementFactory,
    private readonly clock: Clock,
  ) {
    this.searched = statements.statement(
      `SELECT MAX(id) AS last, COUNT(*) AS found FROM (
         SELECT {event.id} AS id FROM {event} WHERE ${RANGE} ORDER BY {event.id} LIMIT ${MAX_ROWS_SEARCHED}) searched`,
    );
    this.oldest = statements.statement('SELECT MIN({event.id}) AS id FROM {event}');
  }

  /**
   * Returns the events after `after`, oldest first. They appear 60 seconds after they happened, because a transaction
   * that is still open can commit an event with a lower id. So whoever keeps `next` receives each event once, except for
   * those of transactions that take longer, and those that pruning removed first. With `events`, a page can be empty
   * although `hasMore` is true, because at most 10,000 events are searched for each page.
   * @throws AuthError `invalid_field`; `database_unavailable`
   */
  async read(request: AuthEventsRequest = {}): Promise<AuthEventsPage> {
    const { after = 0, limit = 100, userId, events } = request;
    assertIntegerWithin('after', after, 0, Number.MAX_SAFE_INTEGER);
    assertIntegerWithin('limit', limit, 1, 1_000);
    if (events !== undefined) assertEventNames('events', events);
    // An undefined variable must not select the events of all users.
    if ('userId' in request && userId == null)
      throw invalidField('userId', 'This filter has no value. Set a value or omit the filter.');
    const newest = firstEventIdAt(this.clock.now() - MAX_TRANSACTION_MS);
    // The events of one user have an index and a maximum number. Names have no index.
    const until = userId === undefined && events ? await this.searchedUntil(after, newest) : newest;
    const query = this.select(request).with({ after, until, limit, userId: String(userId), events });
    const found = (await this.database.run(null, query)).rows.map((row) => {
      const id = row['user_id'] as string | null;
      return { ...eventFromRow(row), userId: id === null ? null : this.users.parseId(id) };
    });
    const isFull = found.length === limit;
    return {
      events: found,
      next: isFull ? found.at(-1)!.id : Math.max(after, until - 1),
      hasMore: isFull || until < newest,
      oldestId: await this.readOldestId(),
    };
  }

  private select({ userId, events }: AuthEventsRequest): Statement {
    const ofUser = userId === undefined ? '' : 'AND {event.userId} = :userId';
    const named = events ? 'AND {event.event} IN (:events...)' : '';
    return this.statements.statement(
      `SELECT ${columns('event', 'id userId event ipAddress userAgent extra occurredAt')} FROM {event}
       WHERE ${RANGE} ${ofUser} ${named} ORDER BY {event.id} LIMIT :limit`,
    );
  }

  private async readOldestId(): Promise<number | null> {
    const [row] = (await this.database.run(null, this.oldest.with({}))).rows;
    return row?.['id'] == null ? null : Number(row['id']);
  }

  private async searchedUntil(after: number, newest: number): Promise<number> {
    const [searched] = (await this.database.run(null, this.searched.with({ after, until: newest }))).rows;
    return Number(searched?.['found']) < MAX_ROWS_SEARCHED ? newest : Number(searched!['last']) + 1;
  }
}
