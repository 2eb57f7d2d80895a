import { Inject, Injectable } from '@nestjs/common';
import type { AccountStatus } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { Database, type StatementOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { least } from '../database/dialect';
import { columns, type ParameterValues, StatementFactory } from '../database/statements';
import { firstOf, type Transaction } from '../database/transaction';
import type { Client } from '../history/client';
import { EventLog, newEvent, type WriteEvents } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { graceSecondsFor, type PairExpiries, type Successor } from '../tokens/tokens';
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
import { GuardedUpdate, type Returned } from './guarded-update';
import {
  type EndedSession,
  expiriesFromRow,
  EXPIRY_COLUMNS,
  type SessionRecord,
  SessionSql,
  toEndedSession,
  toEndedSessionAt,
} from './session';

/** A session that was refreshed from a different network than before. */
export interface NetworkChange {
  readonly session: SessionRecord;
  readonly from: string;
  readonly to: string;
}

/** The result of presenting a refresh token. */
export type RotateOutcome =
  | {
      readonly kind: 'rotated';
      readonly expiries: PairExpiries;
      /** Null if no change of the network is known, for example because networks are not tracked. */
      readonly networkChange: NetworkChange | null;
    }
  /** The pair that replaced the token is issued again, derived from the seed. */
  | {
      readonly kind: 'replayed';
      readonly seed: string;
      readonly expiries: PairExpiries;
      readonly networkChange: NetworkChange | null;
    }
  /** Nothing was changed. The presented pair is returned. */
  | { readonly kind: 'unchanged'; readonly expiries: PairExpiries }
  /** The token is refused, and no session ends. */
  | { readonly kind: 'refused' }
  /** Nothing was changed. The token is newer than the stored session. The database has probably lost commits. */
  | { readonly kind: 'newer_than_database'; readonly session: SessionRecord }
  /** The database failed or did not answer in time. The token may have been rotated, or may be rotated later. */
  | { readonly kind: 'unknown' }
  /** The session has expired. The expiry is not stored yet. */
  | { readonly kind: 'session_expired'; readonly userId: string }
  /** The user is disabled or deleted. The sessions are not ended yet. */
  | { readonly kind: 'account_inactive'; readonly userId: string; readonly account: AccountStatus }
  /** The token was used before. All sessions of the user have ended. */
  | {
      readonly kind: 'reused';
      readonly session: SessionRecord;
      readonly ended: readonly EndedSession[];
      readonly generationsBehind: number;
      readonly lastRefreshAt: number;
    };

/** A presented refresh token, and the pair to which it is exchanged. */
interface Rotation {
  readonly presented: PresentedRefreshToken;
  /** If refresh tokens are not rotated, the digest of the refresh token is unchanged. */
  readonly successor: Successor;
  readonly client: Client;
}

/**
 * Reads the previous network of a refreshed session if the network has changed (PostgreSQL). The subquery
 * reads the row as it was before the update. On other databases, the session is read first, and
 * `networkChangeOf` makes the same comparison.
 */
const PREVIOUS_NETWORK = {
  column: `(SELECT p.{session.lastNetwork} FROM {session} p
    WHERE p.{session.id} = s.{session.id} AND p.{session.lastNetwork} <> :network) AS previous_network`,
  /** The details of the event, which depend on the column. */
  extra: `CASE WHEN previous_network IS NULL THEN CAST(:eventExtra AS text) ELSE CAST(:changedExtra AS text) END`,
} as const;

/** The details of the event if the network has changed. */
const NETWORK_CHANGED = { network_changed: true } as const;

/**
 * Returns the previous network if a session is refreshed from a different network. Returns null if the
 * networks are the same, or if either network is unknown.
 */
function networkChangeOf(previous: string | null, network: string): string | null {
  return previous !== null && network !== '' && previous !== network ? previous : null;
}

/** Returns the change of network at a replay, or null. A replay does not change the stored network. */
function networkChangeAtReplay(
  { session, lastNetwork }: RefreshableSession,
  { trackedNetwork: to }: Pick<Client, 'trackedNetwork'>,
): NetworkChange | null {
  const from = networkChangeOf(lastNetwork, to);
  return from === null ? null : { session, from, to };
}

/**
 * The time limit of `rotateUnread`, whose statement also writes the event. If the event log is locked, enough
 * time remains to end the sessions in case the token turns out to be reused.
 */
const FIRST_ATTEMPT_TIMEOUT_MS = 2_000;

type Rotated = Extract<RotateOutcome, { kind: 'rotated' }>;

type Replayed = Extract<RotateOutcome, { kind: 'replayed' }>;

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
  private readonly rotation: GuardedUpdate;
  private readonly replay: GuardedUpdate;
  private readonly replayBeforeFirstUse: GuardedUpdate;
  /** Whether the guard condition covers everything that a refresh depends on, so that no read is needed first. */
  private readonly rotatesWithoutReading: boolean;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly endSessions: EndSessions,
    private readonly users: Users,
    private readonly clock: Clock,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { absoluteEnd, expiresAt } = sql;
    const { dialect } = statements;
    this.select = statements.prepared(
      `SELECT ${sql.columnsWithAccount}, ${columns('session', TOKEN_COLUMNS, 's.')}, ${absoluteEnd} AS absolute_end
       FROM {session} s WHERE s.{session.id} = :id`,
    );
    this.rotatesWithoutReading = dialect === 'postgres' && users.sql !== null;
    // On MySQL and MariaDB, an UPDATE that tests the account can lock the user's row.
    const account = this.rotatesWithoutReading ? `AND ${sql.account} = 'active'` : '';
    const live = `s.{session.id} = :id AND s.{session.state} = 'active' AND ${expiresAt} > :now ${account}`;
    const guarded = (assignments: string, guard: string, returned?: Returned): GuardedUpdate =>
      new GuardedUpdate(database, statements, events, `${assignments} WHERE ${live} AND ${guard}`, returned);

    this.rotation = guarded(
      `{session.refreshDigest} = :nextRefreshDigest, {session.accessDigest} = :nextAccessDigest,
       {session.refreshExpiresAt} = ${least(dialect, ':refreshExpiresAt', absoluteEnd)},
       {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
       {session.generation} = s.{session.generation} + :generations, {session.refreshedAt} = :now,
       {session.lastNetwork} = COALESCE(:network, s.{session.lastNetwork}),
       ${sql.activityAt(':now')}, {session.replaySeed} = :seed, {session.replayUntil} = :replayUntil,
       {session.replayTransport} = :replayTransport, {session.replayNetworkDigest} = :replayNetworkDigest,
       {session.replayCount} = 0, {session.firstUsedAt} = NULL`,
      // Without rotation, only the access digest shows that an earlier run was committed.
      `s.{session.refreshDigest} = :presentedDigest AND s.{session.accessDigest} <> :nextAccessDigest
         AND s.{session.refreshExpiresAt} > :now`,
      {
        columns: `${PREVIOUS_NETWORK.column}, ${columns('session', EXPIRY_COLUMNS, 's.')}`,
        extra: PREVIOUS_NETWORK.extra,
      },
    );
    const count = '{session.replayCount} = s.{session.replayCount} + 1';
    const isLatest = `s.{session.refreshDigest} = :liveDigest AND s.{session.replayCount} < ${MAX_REPLAYS}`;
    this.replay = guarded(count, isLatest);
    this.replayBeforeFirstUse = guarded(count, `${isLatest} AND s.{session.firstUsedAt} IS NULL`);
  }

  async rotate(rotation: Rotation): Promise<RotateOutcome> {
    const graceMs = graceSecondsFor(this.options, rotation.presented.transport) * 1000;
    const call = new RotationCall(rotation, this.clock.now(), graceMs, this.database.startBudget());
    try {
      return await this.rotateWithin(call);
    } catch (error) {
      if (call.outcomeUnknown) return { kind: 'unknown' };
      throw error;
    }
  }

  private async rotateWithin(call: RotationCall): Promise<RotateOutcome> {
    const { presented, successor } = call;
    // If the access token is presented too, only a read can decide whether the pair stays unchanged.
    const startsWithUpdate = this.rotatesWithoutReading && presented.accessDigest === null;
    const first = startsWithUpdate ? await this.rotateUnread(call) : null;
    if (first) return first;
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
    const { userId } = found.session;
    switch (decision) {
      case 'newer_than_database':
        return { kind: 'newer_than_database', session: found.session };
      case 'rotate':
        return this.tryRotate(found, call);
      case 'replay':
        return this.tryReplay(found, call);
      case 'unchanged':
        return { kind: 'unchanged', expiries: expiriesOf(found) };
      case 'reuse':
        // With a seed, a replay may have delivered the pair of an earlier run, and the client may have refreshed it.
        // Without a seed, no client has received that pair, so `rotateWithin` would have found it in the session.
        if (call.mayHaveRotated(found)) return { kind: 'refused' };
        return this.events.revoke(null, (write) => this.revokeOnReuse(call, userId, write), call.budget);
      case 'session_expired':
        return { kind: 'session_expired', userId };
      case 'account_inactive':
        return { kind: 'account_inactive', userId, account: found.account ?? 'deleted' };
    }
  }

  /** Tries to rotate the token before the session is read. Returns null if the update fails or changes no row. */
  private rotateUnread(call: RotationCall): Promise<Rotated | null> {
    return this.tryRotate(null, call, FIRST_ATTEMPT_TIMEOUT_MS).catch(() => null);
  }

  /**
   * @param found the session as it was read, or null if it was not read before the update (PostgreSQL)
   * @returns null if the guard condition does not hold
   */
  private async tryRotate(
    found: RefreshableSession | null,
    call: RotationCall,
    maxMs = Infinity,
  ): Promise<Rotated | null> {
    const { now, client } = call;
    const issued = {
      accessExpiresAt: now + this.options.accessTokenTtlSeconds * 1000,
      refreshExpiresAt: now + this.options.refreshTokenTtlSeconds * 1000,
    };
    const change = found && networkChangeOf(found.lastNetwork, client.trackedNetwork);
    const extra = change ? NETWORK_CHANGED : {};
    const event = newEvent('token_refresh', found?.session.userId ?? null, client, now, extra);
    const row = await this.rotation.run({ ...call.values(), ...issued }, event, call.statementOptions(maxMs));
    if (!row) return null;
    if (found) {
      const networkChange =
        change === null ? null : { session: found.session, from: change, to: client.trackedNetwork };
      return { kind: 'rotated', expiries: expiriesOf({ ...found, ...issued }), networkChange };
    }
    const from = row['previous_network'] as string | null;
    return {
      kind: 'rotated',
      expiries: expiriesFromRow(row),
      networkChange: from === null ? null : await this.readNetworkChange(call, from),
    };
  }

  /** The refresh is committed and must not fail, even if the session cannot be read for the signal. */
  private async readNetworkChange(call: RotationCall, from: string): Promise<NetworkChange | null> {
    const found = await this.read(call).catch(() => null);
    return found && { session: found.session, from, to: call.client.trackedNetwork };
  }

  private async tryReplay(found: RefreshableSession, call: RotationCall): Promise<Replayed | null> {
    const { presented, now, client } = call;
    const isSameNetwork = found.replay!.networkDigest === presented.networkDigest;
    const event = newEvent('token_refresh', found.session.userId, client, now, { replayed: true });
    const values = { id: presented.sessionId, liveDigest: found.refreshDigest, now };
    const replay = isSameNetwork ? this.replay : this.replayBeforeFirstUse;
    if (!(await replay.run(values, event, call.statementOptions()))) return null;
    const networkChange = networkChangeAtReplay(found, client);
    return { kind: 'replayed', seed: found.replay!.seed, expiries: expiriesOf(found), networkChange };
  }

  /**
   * Ends every session of the user. The decision is repeated under the user's lock. The first of several parallel
   * presentations finds a live family. The other presentations find a revoked family, change nothing and report
   * nothing.
   */
  private *revokeOnReuse(call: RotationCall, userId: string, write: WriteEvents): Transaction<RotateOutcome> {
    const { presented, now, graceMs, client } = call;
    const active = yield* this.endSessions.lockAllActive(userId);
    const row = yield* firstOf(this.select.with({ id: presented.sessionId }));
    const found = row && refreshableFromRow(row);
    if (!found || decideRefresh(found, presented, now, graceMs) !== 'reuse') return { kind: 'refused' };

    const ended = active.map((session) => toEndedSessionAt(session, now, 'token_reuse'));
    yield* this.endSessions.storeEndOfAll(userId, ended, now, { presented });
    const count = ended.filter(({ reason }) => reason === 'token_reuse').length;
    const { session, generation, refreshedAt } = found;
    yield* write([newEvent('token_reuse', userId, client, now, { session_id: session.id, sessions_ended: count })]);
    return {
      kind: 'reused',
      session: toEndedSession(session, 'token_reuse').session,
      ended,
      generationsBehind: generation - presented.generation,
      lastRefreshAt: refreshedAt ?? session.createdAt,
    };
  }

  private async read(call: RotationCall): Promise<RefreshableSession | null> {
    const { presented } = call;
    const query = this.select.with({ id: presented.sessionId });
    const [row] = (await this.database.run(null, query, call.readOptions())).rows;
    const found = row ? refreshableFromRow(row) : null;
    // A token of another family is refused, whatever the status of the account is.
    if (!found || found.account !== null || found.familyDigest !== presented.familyDigest) return found;
    return { ...found, account: (await this.users.accountOf(found.session.userId)).status };
  }
}

/** One call of `rotate`: its time budget, and whether the outcome of one of its statements is unknown. */
class RotationCall {
  readonly presented: PresentedRefreshToken;
  readonly successor: Successor;
  readonly client: Client;
  outcomeUnknown = false;

  constructor(
    { presented, successor, client }: Rotation,
    readonly now: number,
    readonly graceMs: number,
    readonly budget: TimeBudget,
  ) {
    this.presented = presented;
    this.successor = successor;
    this.client = client;
  }

  /** Returns the parameters of the rotation, except the expiries of the new pair. */
  values(): ParameterValues {
    const { presented, now, graceMs, client } = this;
    const { digests, seed } = this.successor;
    const window = {
      replayUntil: now + graceMs,
      replayTransport: presented.transport,
      replayNetworkDigest: presented.networkDigest,
    };
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
      ...(seed === null ? { replayUntil: null, replayTransport: null, replayNetworkDigest: null } : window),
    };
  }

  /**
   * Returns whether an earlier statement of this call may have rotated the token, and another call may
   * then have rotated the successor. This is possible only if the session was refreshed since this call
   * started. The start is moved back by the grace period, to allow for clock differences.
   */
  mayHaveRotated({ refreshedAt, generation }: RefreshableSession): boolean {
    const { presented, successor, now, graceMs } = this;
    const isReplaced = generation > presented.generation + 1 && refreshedAt !== null && refreshedAt >= now - graceMs;
    return this.outcomeUnknown && successor.seed !== null && isReplaced;
  }

  statementOptions(maxMs = Infinity): StatementOptions {
    const onUnknownOutcome = (): void => void (this.outcomeUnknown = true);
    return { withinMs: Math.min(maxMs, this.budget.remainingMs), onUnknownOutcome };
  }

  readOptions(): StatementOptions {
    return { withinMs: this.budget.remainingMs };
  }
}
