import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { Database, type StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { failIfDeadlinePassed, least } from '../database/dialect';
import { columns, type ParameterValues, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Query, REMAINING_MS, type Row, type Transaction } from '../database/transaction';
import { type Client, EventLog, type NewAuthEvent, newEvent, type WriteEvents } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { graceSecondsFor, type PairExpiries, type Successor } from '../tokens/tokens';
import { UserLock } from '../users/user-lock';
import { Users } from '../users/users';
import {
  decideRefresh,
  expiriesOf,
  MAX_REPLAYS,
  type PresentedRefreshToken,
  refreshableFromRow,
  type RefreshableSession,
  TOKEN_COLUMNS,
} from './decide-refresh';
import { EndSessions } from './end-sessions';
import {
  type EndedSession,
  expiriesFromRow,
  EXPIRY_COLUMNS,
  type SessionRecord,
  SessionSql,
  toEndedSession,
} from './session';

/** A session that was refreshed from a different network than before. */
export interface NetworkChange {
  readonly session: SessionRecord;
  readonly from: string;
  readonly to: string;
}

/** A token pair that a refresh returns. */
interface Issued {
  readonly expiries: PairExpiries;
  /** Null if no change of the network is known, for example because networks are not tracked. */
  readonly networkChange: NetworkChange | null;
}

/** The token was used before. All sessions of the user have ended. */
export interface Reused {
  readonly kind: 'reused';
  readonly found: RefreshableSession;
  readonly ended: readonly EndedSession[];
  /** The number of ended sessions that had not expired. */
  readonly sessionsEnded: number;
  readonly generationsBehind: number;
}

/** The result of presenting a refresh token. */
export type RotateOutcome =
  | ({ readonly kind: 'rotated' } & Issued)
  /** The pair that replaced the token is issued again, derived from the seed. */
  | ({ readonly kind: 'replayed'; readonly seed: string } & Issued)
  /** Nothing was changed. The presented pair is returned. */
  | { readonly kind: 'unchanged'; readonly expiries: PairExpiries }
  /** The token is refused, and no session ends. */
  | { readonly kind: 'refused' }
  /** Nothing was changed. An expiry, or the end of the sessions of an inactive user, is not stored yet. */
  | {
      readonly kind: 'newer_than_database' | 'session_expired' | 'account_inactive';
      readonly found: RefreshableSession;
    }
  | Reused
  /** The database failed or did not answer in time. The token may have been rotated, or may be rotated later. */
  | { readonly kind: 'unknown'; readonly replayedSeed: string | null };

/** One call of `rotate`. Its statements share one time budget. */
interface RotationCall {
  readonly presented: PresentedRefreshToken;
  /** The pair that replaces the token. If refresh tokens are not rotated, the refresh token is the presented one. */
  readonly successor: Successor;
  readonly client: Client;
  readonly now: number;
  readonly graceMs: number;
  readonly budget: TimeBudget;
  /** Whether a statement may have been committed although it failed. */
  outcomeUnknown: boolean;
  /** The seed of the pair that a replay returns, or null if no replay was tried. */
  replayedSeed: string | null;
}

/** The details of the event if the network has changed. */
const NETWORK_CHANGED = { network_changed: true } as const;

/** Returns the change if a session is refreshed from a different network. Returns null if either network is unknown. */
function networkChangeOf(found: RefreshableSession, { trackedNetwork: to }: Client): NetworkChange | null {
  const from = found.lastNetwork;
  return from !== null && to !== '' && from !== to ? { session: found.session, from, to } : null;
}

/**
 * The time limit of a rotation before the session is read, whose statement also writes the event. If the event log is
 * locked, enough time remains to end the sessions in case the token turns out to be reused.
 */
const FIRST_ATTEMPT_TIMEOUT_MS = 2_000;

/** The maximum number of decisions about a refresh. A parallel change requires another decision. */
const MAX_DECISIONS = 5;

/**
 * Refreshes sessions: rotates a refresh token, replays the last refresh, or ends all sessions of the user after reuse.
 *
 * The digest of the current token is stored in the session's row, so a conditional update is the compare-and-set. If
 * several parallel requests present the token, at most one rotates it. `decideRefresh` decides about the others.
 */
@Injectable()
export class Rotate {
  private readonly select;
  private readonly rotation;
  private readonly replay;
  private readonly isPostgres: boolean;
  /** Whether the guard condition covers everything that a refresh depends on, so that no read is needed first. */
  private readonly rotatesWithoutReading: boolean;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly endSessions: EndSessions,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly clock: Clock,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { absoluteEnd, expiresAt } = sql;
    const { dialect } = statements;
    this.select = statements.prepared(
      `SELECT ${sql.columnsWithAccount}, ${columns('session', TOKEN_COLUMNS, 's.')}, ${absoluteEnd} AS absolute_end
       FROM {session} s WHERE s.{session.id} = :id`,
    );
    this.isPostgres = dialect === 'postgres';
    this.rotatesWithoutReading = this.isPostgres && users.sql !== null;
    // On MySQL and MariaDB, an UPDATE that tests the account can lock the user's row.
    const account = this.rotatesWithoutReading ? `AND ${sql.account} = 'active'` : '';
    const live = `s.{session.id} = :id AND s.{session.state} = 'active' AND ${expiresAt} > :now ${account}`;
    // Without rotation, only the access digest shows that an earlier run was committed.
    const rotation = `UPDATE {session} AS s SET {session.refreshDigest} = :nextRefreshDigest,
         {session.accessDigest} = :nextAccessDigest,
         {session.refreshExpiresAt} = ${least(dialect, ':refreshExpiresAt', absoluteEnd)},
         {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
         {session.generation} = s.{session.generation} + :generations, {session.refreshedAt} = :now,
         {session.lastNetwork} = COALESCE(:network, s.{session.lastNetwork}),
         ${sql.activityAt(':now')}, {session.replaySeed} = :seed, {session.replayUntil} = :replayUntil,
         {session.replayTransport} = :replayTransport, {session.replayNetworkDigest} = :replayNetworkDigest,
         {session.replayCount} = 0, {session.firstUsedAt} = NULL
       WHERE ${live} AND s.{session.refreshDigest} = :presentedDigest
         AND s.{session.accessDigest} <> :nextAccessDigest AND s.{session.refreshExpiresAt} > :now`;
    this.rotation = statements.prepared(this.isPostgres ? withEvent(rotation, events) : rotation);
    this.replay = statements.statement(
      `UPDATE {session} AS s SET {session.replayCount} = s.{session.replayCount} + 1
       WHERE ${live} AND s.{session.refreshDigest} = :liveDigest AND s.{session.replayCount} < ${MAX_REPLAYS}
         AND (s.{session.replayNetworkDigest} = :networkDigest OR s.{session.firstUsedAt} IS NULL)`,
    );
  }

  async rotate(presented: PresentedRefreshToken, successor: Successor, client: Client): Promise<RotateOutcome> {
    const now = this.clock.now();
    const graceMs = graceSecondsFor(this.options, presented.transport) * 1000;
    const budget = this.database.startBudget();
    const call: RotationCall = {
      presented,
      successor,
      client,
      now,
      graceMs,
      budget,
      outcomeUnknown: false,
      replayedSeed: null,
    };
    try {
      return await this.rotateWithin(call);
    } catch (error) {
      if (call.outcomeUnknown) return { kind: 'unknown', replayedSeed: call.replayedSeed };
      throw error;
    }
  }

  private async rotateWithin(call: RotationCall): Promise<RotateOutcome> {
    const { presented, successor } = call;
    // If the access token is presented too, only a read can decide whether the pair stays unchanged.
    if (this.rotatesWithoutReading && presented.accessDigest === null) {
      const rotated = await this.tryRotate(null, call, FIRST_ATTEMPT_TIMEOUT_MS).catch(() => null);
      if (rotated) return rotated;
    }
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions++) {
      const found = await this.read(call);
      // An earlier run, whose result was lost, has rotated the token.
      if (found?.accessDigest === successor.digests.accessDigest) {
        return { kind: 'rotated', expiries: expiriesOf(found), networkChange: null };
      }
      const outcome = await this.applyDecision(found, call);
      if (outcome) return outcome;
    }
    return { kind: 'refused' };
  }

  /** Decides, and carries out the decision. Returns null if another request has changed the session meanwhile. */
  private async applyDecision(found: RefreshableSession | null, call: RotationCall): Promise<RotateOutcome | null> {
    const decision = decideRefresh(found, call.presented, call.now, call.graceMs);
    if (!found || decision === 'refuse') return { kind: 'refused' };
    switch (decision) {
      case 'rotate':
        return this.tryRotate(found, call);
      case 'replay':
        return this.tryReplay(found, call);
      case 'unchanged':
        return { kind: 'unchanged', expiries: expiriesOf(found) };
      case 'reuse':
        // With a seed, a replay may have delivered the pair of an earlier run, and the client may have refreshed it.
        // Without a seed, no client has received that pair, so `rotateWithin` would have found it in the session.
        if (mayHaveRotated(call, found)) return { kind: 'refused' };
        return this.events.revoke(null, (write) => this.revokeOnReuse(found, call, write), call.budget);
      default:
        return { kind: decision, found };
    }
  }

  /**
   * @param found the session as it was read, or null if it was not read before the update (PostgreSQL)
   * @returns null if the guard condition does not hold
   */
  private async tryRotate(
    found: RefreshableSession | null,
    call: RotationCall,
    maxMs = Infinity,
  ): Promise<RotateOutcome | null> {
    const { now, client } = call;
    const issued = {
      accessExpiresAt: now + this.options.accessTokenTtlSeconds * 1000,
      refreshExpiresAt: now + this.options.refreshTokenTtlSeconds * 1000,
    };
    const values = { ...rotationValues(call), ...issued };
    const userId = found?.session.userId ?? null;
    if (!found || this.isPostgres) {
      // Each run generates a new event id, because the previous id may be taken.
      const event = (): ParameterValues => this.events.valuesOf(newEvent('token_refresh', userId, client, now));
      const query = (): Query => this.rotation.with({ ...values, ...event(), remainingMs: REMAINING_MS });
      const [row] = (await this.database.run(null, query, optionsOf(call, maxMs))).rows;
      if (!row) return null;
      this.events.countWritten(1);
      const networkChange = await this.networkChangeAfter(row, found, call);
      return { kind: 'rotated', expiries: expiriesFromRow(row), networkChange };
    }
    const networkChange = networkChangeOf(found, client);
    const event = newEvent('token_refresh', userId, client, now, networkChange ? NETWORK_CHANGED : {});
    if (!(await this.changeAndRecord(this.rotation.with(values), event, call))) return null;
    return { kind: 'rotated', expiries: expiriesOf({ ...found, ...issued }), networkChange };
  }

  /** The refresh is committed and must not fail, even if the session cannot be read for the signal. */
  private async networkChangeAfter(
    row: Row,
    found: RefreshableSession | null,
    call: RotationCall,
  ): Promise<NetworkChange | null> {
    const from = row['previous_network'] as string | null;
    if (from === null) return null;
    const read = found ?? (await this.read(call).catch(() => null));
    return read && { session: read.session, from, to: call.client.trackedNetwork };
  }

  /** Runs an update, and records the event if the guard condition of the update holds. */
  private changeAndRecord(update: Query, event: NewAuthEvent, call: RotationCall): Promise<boolean> {
    const { events } = this;
    const unit = function* (): Transaction<boolean> {
      if ((yield* affectedBy(update)) === 0) return false;
      yield* events.write([event]);
      return true;
    };
    return this.database.transaction(null, unit, { ...optionsOf(call), retryUnknownCommit: true });
  }

  private async tryReplay(found: RefreshableSession, call: RotationCall): Promise<RotateOutcome | null> {
    const { presented, now, client } = call;
    const event = newEvent('token_refresh', found.session.userId, client, now, { replayed: true });
    const { sessionId: id, networkDigest } = presented;
    const update = this.replay.with({ id, networkDigest, liveDigest: found.refreshDigest, now });
    call.replayedSeed = found.replay!.seed;
    if (!(await this.changeAndRecord(update, event, call))) return null;
    const networkChange = networkChangeOf(found, client);
    return { kind: 'replayed', seed: found.replay!.seed, expiries: expiriesOf(found), networkChange };
  }

  /**
   * Ends every session of the user. The decision is repeated under the user's lock, so that only the first of several
   * parallel presentations ends and reports anything.
   */
  private *revokeOnReuse(
    { session: { userId } }: RefreshableSession,
    { presented, now, graceMs, client }: RotationCall,
    write: WriteEvents,
  ): Transaction<RotateOutcome> {
    const active = yield* this.endSessions.lockAllActive(userId);
    const row = yield* firstOf(this.select.with({ id: presented.sessionId }));
    const found = row && refreshableFromRow(row);
    if (!found || decideRefresh(found, presented, now, graceMs) !== 'reuse') return { kind: 'refused' };

    const ended = active.map((one) => toEndedSession(one, now, 'token_reuse'));
    yield* this.endSessions.storeEnded(ended, now, { presented });
    yield* this.lock.revokeLogins(userId);
    const sessionsEnded = ended.filter(({ reason }) => reason === 'token_reuse').length;
    const extra = { session_id: found.session.id, sessions_ended: sessionsEnded };
    yield* write([newEvent('token_reuse', userId, client, now, extra)]);
    return { kind: 'reused', found, ended, sessionsEnded, generationsBehind: found.generation - presented.generation };
  }

  private async read({ presented, budget }: RotationCall): Promise<RefreshableSession | null> {
    const query = this.select.with({ id: presented.sessionId });
    const [row] = (await this.database.run(null, query, { withinMs: budget.remainingMs })).rows;
    const found = row ? refreshableFromRow(row) : null;
    // A token of another family is refused, whatever the status of the account is.
    if (!found || found.account !== null || found.familyDigest !== presented.familyDigest) return found;
    return { ...found, account: (await this.users.accountOf(found.session.userId)).status };
  }
}

/**
 * Returns a statement that rotates and records the event (PostgreSQL). `previous_network` is the network that the
 * session had before if the network has changed, because a subquery on the same table reads the row as it was before
 * the update.
 */
function withEvent(rotation: string, events: EventLog): string {
  const extra = `CASE WHEN previous_network IS NULL THEN CAST(:eventExtra AS text) ELSE CAST(:changedExtra AS text) END`;
  return `WITH changed AS (${rotation} RETURNING s.{session.userId} AS user_id, ${columns('session', EXPIRY_COLUMNS, 's.')},
       (SELECT p.{session.lastNetwork} FROM {session} p
         WHERE p.{session.id} = s.{session.id} AND p.{session.lastNetwork} <> :network) AS previous_network),
     logged AS (${events.insertForUsersIn('changed', extra)} RETURNING 1 AS one)
   SELECT changed.* FROM changed WHERE ${failIfDeadlinePassed(['logged'])}`;
}

/** Returns the parameters of the rotation, except the expiries of the new pair. */
function rotationValues({ presented, successor, client, now, graceMs }: RotationCall): ParameterValues {
  const { digests, seed } = successor;
  return {
    id: presented.sessionId,
    presentedDigest: presented.digest,
    nextRefreshDigest: digests.refreshDigest,
    nextAccessDigest: digests.accessDigest,
    generations: digests.refreshDigest === presented.digest ? 0 : 1,
    now,
    network: client.trackedNetwork || null,
    changedExtra: JSON.stringify(NETWORK_CHANGED),
    seed,
    replayUntil: seed === null ? null : now + graceMs,
    replayTransport: seed === null ? null : presented.transport,
    replayNetworkDigest: seed === null ? null : presented.networkDigest,
  };
}

function optionsOf(call: RotationCall, maxMs = Infinity): StatementOptions {
  const onUnknownOutcome = (): void => void (call.outcomeUnknown = true);
  return { withinMs: Math.min(maxMs, call.budget.remainingMs), onUnknownOutcome };
}

/**
 * Returns whether an earlier statement of this call may have rotated the token, and another call may then have rotated
 * the successor. This is possible only if the session was refreshed since this call started. The start is moved back by
 * the grace period, to allow for clock differences.
 */
function mayHaveRotated(call: RotationCall, { refreshedAt, generation }: RefreshableSession): boolean {
  const { presented, successor, now, graceMs } = call;
  const isReplaced = generation > presented.generation + 1 && refreshedAt !== null && refreshedAt >= now - graceMs;
  return call.outcomeUnknown && successor.seed !== null && isReplaced;
}
