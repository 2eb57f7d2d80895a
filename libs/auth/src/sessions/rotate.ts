import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../base/clock';
import { Database, type TransactionOptions } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { failIfDeadlinePassed, forUpdate, least } from '../database/dialect';
import type { TokenTransport } from '../database/entities';
import { columns, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, firstOf, type Query, REMAINING_MS, type Row, type Step } from '../database/transaction';
import { type Client, EventLog, type NewAuthEvent, newEvent } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { PASSWORD_METHOD } from '../throttle/throttle';
import { expiriesAfter, graceSecondsFor, type NewTokenFamily, type PairTerms, type Successor } from '../tokens/tokens';
import { Users } from '../users/users';
import type { CurrentSession } from './authenticate';
import {
  accountFromRow,
  isTrue,
  realmsFromRow,
  sessionFromRow,
  type SessionRecord,
  SessionSql,
  withProvenMethods,
} from './session';

/** The maximum number of replays of one refresh. */
export const MAX_REPLAYS = 100;

export interface PresentedRefreshToken {
  readonly sessionId: string;
  readonly digest: string;
  readonly familyDigest: string;
  readonly generation: number;
  readonly transport: TokenTransport;
  /** The digest of the access token that the client presented together with this token in cookies, or null. */
  readonly accessDigest: string | null;
  /** The digest of this token together with the client's network. */
  readonly networkDigest: string;
  /** The realm of the call, in the form of `Client.realm`. */
  readonly realm: string | null;
  /** Derives the pair that replaces this token. */
  successor(seed: string): Successor;
}

/** A session with its current tokens. */
export type RefreshableSession = Readonly<ReturnType<typeof refreshableFromRow>>;

/** The stored data of a refresh, from which the same pair can be derived again. */
export type ReplayWindow = Readonly<ReturnType<typeof replayFromRow>>;

/** One refresh. Its statements share one time budget. */
export interface Rotation {
  readonly presented: PresentedRefreshToken;
  /** The pair that replaces the token. Without rotation, it contains the presented refresh token. */
  readonly successor: Successor;
  readonly client: Client;
  readonly now: number;
  readonly graceMs: number;
  readonly budget: TimeBudget;
  /** Whether a statement may have been committed although it failed. */
  outcomeUnknown: boolean;
}

const NETWORK_CHANGED = { network_changed: true };
const CHANGED_EXTRA = JSON.stringify(NETWORK_CHANGED);

const PAIR_COLUMNS = 'accessExpiresAt refreshExpiresAt persistent';

const TOKEN_COLUMNS = `${PAIR_COLUMNS} remembered accessDigest refreshDigest familyDigest generation refreshedAt lastNetwork
  replaySeed replayUntil replayTransport replayNetworkDigest replayCount firstUsedAt`;

/**
 * The statements of a refresh. The digest of the current token is stored in the session's row, so a conditional update
 * is the compare-and-set: if several parallel requests present the token, at most one rotates it.
 */
@Injectable()
export class Rotate {
  /** Whether the guard condition covers everything that a rotation depends on, so that no read is needed first. */
  readonly needsNoRead: boolean;
  private readonly isPostgres: boolean;
  private readonly select;
  private readonly rotation;
  private readonly replayUpdate;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly users: Users,
    private readonly clock: Clock,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { absoluteEnd, expiresAt } = sql;
    const { dialect } = statements;
    this.select = statements.prepared(
      `SELECT ${sql.columnsWithAccount}, ${columns('session', TOKEN_COLUMNS, 's.')}, ${absoluteEnd} AS absolute_end
         ${sql.realmColumns} FROM {session} s WHERE s.{session.id} = :id ${sql.withoutRealm}`,
    );
    this.isPostgres = dialect === 'postgres';
    this.needsNoRead = this.isPostgres && users.sql !== null;
    // On MySQL and MariaDB, an UPDATE that tests the account can lock the user's row.
    const realms = options.realm ? `AND s.{session.realm} = :realm AND ${users.sql?.realm} = :realm` : sql.withoutRealm;
    const account = this.needsNoRead ? `AND ${sql.account} = 'active' ${realms}` : '';
    const live = `s.{session.id} = :id AND s.{session.state} = 'active' AND ${expiresAt} > :now ${account}`;
    // Without rotation, only the access digest shows that an earlier run was committed.
    const rotation = `UPDATE {session} AS s SET {session.refreshDigest} = :nextRefreshDigest,
         {session.accessDigest} = :nextAccessDigest,
         {session.refreshExpiresAt} = ${sql.ifRemembered(
           least(dialect, ':rememberedExpiresAt', absoluteEnd),
           least(dialect, ':refreshExpiresAt', absoluteEnd),
         )},
         {session.accessExpiresAt} = ${least(dialect, ':accessExpiresAt', absoluteEnd)},
         {session.generation} = s.{session.generation} + :generations, {session.refreshedAt} = :now,
         {session.lastNetwork} = COALESCE(:network, s.{session.lastNetwork}),
         {session.lastIpAddress} = COALESCE(:ipAddress, s.{session.lastIpAddress}),
         ${sql.activityAt(':now')}, {session.replaySeed} = :seed, {session.replayUntil} = :replayUntil,
         {session.replayTransport} = :replayTransport, {session.replayNetworkDigest} = :replayNetworkDigest,
         {session.replayCount} = 0, {session.firstUsedAt} = NULL
       WHERE ${live} AND s.{session.refreshDigest} = :presentedDigest
         AND s.{session.accessDigest} <> :nextAccessDigest AND s.{session.refreshExpiresAt} > :now`;
    this.rotation = statements.prepared(this.isPostgres ? withEvent(rotation, events) : rotation);
    this.replayUpdate = statements.statement(
      `UPDATE {session} AS s SET {session.replayCount} = s.{session.replayCount} + 1
       WHERE ${live} AND s.{session.refreshDigest} = :liveDigest AND s.{session.replayCount} < ${MAX_REPLAYS}
         AND (s.{session.replayNetworkDigest} = :networkDigest OR s.{session.firstUsedAt} IS NULL)`,
    );
  }

  begin(presented: PresentedRefreshToken, successor: Successor, client: Client): Rotation {
    const now = this.clock.now();
    const graceMs = graceSecondsFor(this.options, presented.transport) * 1000;
    return { presented, successor, client, now, graceMs, budget: this.database.startBudget(), outcomeUnknown: false };
  }

  async read({ presented, budget }: Rotation): Promise<RefreshableSession | null> {
    const query = this.select.with({ id: presented.sessionId });
    const [row] = (await this.database.run(null, query, { withinMs: budget.remainingMs })).rows;
    const found = row ? refreshableFromRow(row) : null;
    // A token of another family is refused, whatever the status of the account is.
    if (!found || found.account !== null || found.familyDigest !== presented.familyDigest) return found;
    const { status, user } = await this.users.accountOf(found.session.userId);
    return { ...found, account: status, userRealm: user?.realm ?? null };
  }

  /** Like `read`, but does not query a `UserStore` for the account. */
  *readStep({ presented }: Rotation): Step<RefreshableSession | null> {
    const row = yield* firstOf(this.select.with({ id: presented.sessionId }));
    return row && refreshableFromRow(row);
  }

  /**
   * Replaces the presented token by its successor, and records the event.
   * @param found null only if `needsNoRead`
   * @returns the terms of the new pair, and the network before a change. Null if the guard condition does not hold
   */
  async rotate(
    rotation: Rotation,
    found: RefreshableSession | null,
    maxMs = Infinity,
  ): Promise<(PairTerms & { readonly previousNetwork: string | null }) | null> {
    const { presented, successor, client, now, graceMs } = rotation;
    const { digests, seed } = successor;
    const { accessExpiresAt, refreshExpiresAt } = expiriesAfter(now, this.options, false);
    // Without a spread, which would take more time than the rest of this method.
    const values = {
      accessExpiresAt,
      refreshExpiresAt,
      rememberedExpiresAt: expiriesAfter(now, this.options, true).refreshExpiresAt,
      id: presented.sessionId,
      realm: presented.realm,
      presentedDigest: presented.digest,
      nextRefreshDigest: digests.refreshDigest,
      nextAccessDigest: digests.accessDigest,
      generations: digests.refreshDigest === presented.digest ? 0 : 1,
      now,
      network: client.trackedNetwork || null,
      ipAddress: client.ipAddress,
      seed,
      replayUntil: seed === null ? null : now + graceMs,
      replayTransport: seed === null ? null : presented.transport,
      replayNetworkDigest: seed === null ? null : presented.networkDigest,
      changedExtra: CHANGED_EXTRA,
      remainingMs: REMAINING_MS,
    };
    if (this.isPostgres) {
      const event = newEvent('token_refresh', null, client, now);
      // Each run generates a new event id, because the previous id may be taken.
      const query = (): Query => this.rotation.with(values, this.events.valuesOf(event));
      const [row] = (await this.database.run(null, query, optionsOf(rotation, maxMs))).rows;
      if (!row) return null;
      this.events.countWritten(1);
      return { ...termsFromRow(row), previousNetwork: row['previous_network'] as string | null };
    }
    const previousNetwork = previousNetworkOf(found!, client);
    const extra = previousNetwork === null ? {} : NETWORK_CHANGED;
    const event = newEvent('token_refresh', found!.session.userId, client, now, extra);
    const isRotated = await this.changeAndRecord(this.rotation.with(values), event, rotation);
    if (!isRotated) return null;
    const issued = expiriesAfter(now, this.options, found!.remembered);
    return { ...termsOf({ ...found!, ...issued }), previousNetwork };
  }

  /** Records a replay of the last refresh. Returns false if the guard condition does not hold. */
  replay(rotation: Rotation, found: RefreshableSession): Promise<boolean> {
    const { presented, client, now } = rotation;
    const { sessionId: id, networkDigest, realm } = presented;
    const update = this.replayUpdate.with({ id, networkDigest, realm, liveDigest: found.refreshDigest, now });
    const event = newEvent('token_refresh', found.session.userId, client, now, { replayed: true });
    return this.changeAndRecord(update, event, rotation);
  }

  private changeAndRecord(update: Query, event: NewAuthEvent, rotation: Rotation): Promise<boolean> {
    const { events } = this;
    const unit = function* (): Step<boolean> {
      if ((yield* affectedBy(update)) === 0) return false;
      yield* events.write([event]);
      return true;
    };
    return this.database.transaction(null, unit, { ...optionsOf(rotation), retryUnknownCommit: true });
  }
}

export interface ReissuedSession extends PairTerms {
  readonly session: SessionRecord;
}

/**
 * Issues a token pair of a new family to an active session whose user has proven their identity. The previous refresh
 * token counts as revoked rather than used, so presenting it is not reuse.
 */
@Injectable()
export class Reissue {
  private readonly replace;
  private readonly read;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sql: SessionSql,
    private readonly events: EventLog,
    private readonly clock: Clock,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const active = `s.{session.id} = :id AND s.{session.state} = 'active'`;
    this.read = statements.statement(
      `SELECT ${sql.columns}, ${columns('session', `accessDigest remembered ${PAIR_COLUMNS}`, 's.')},
         ${sql.absoluteEnd} AS absolute_end
       FROM {session} s WHERE ${active} ${forUpdate(statements.dialect)}`,
    );
    this.replace = statements.statement(
      `UPDATE {session} AS s SET {session.accessDigest} = :accessDigest, {session.refreshDigest} = :refreshDigest,
         {session.accessExpiresAt} = :accessExpiresAt, {session.refreshExpiresAt} = :refreshExpiresAt,
         {session.familyDigest} = :familyDigest, {session.generation} = 0, {session.authenticatedAt} = :now,
         {session.methods} = :methods,
         {session.replaySeed} = NULL, {session.replayUntil} = NULL, {session.firstUsedAt} = NULL
       WHERE ${active} AND s.{session.accessDigest} = :accessDigestRead AND s.{session.methods} = :methodsRead`,
    );
  }

  /**
   * Issues a new pair after a password change, or keeps the current one if `issued` is null. Returns null if the session
   * has ended. The user's lock must be held.
   */
  *reissue(id: string, issued: NewTokenFamily | null, now: number): Step<ReissuedSession | null> {
    const row = yield* firstOf(this.read.with({ id }));
    if (!row || !issued) return row && { session: sessionFromRow(row), ...termsFromRow(row) };
    return yield* this.replaceTokens(row, issued, [PASSWORD_METHOD], now);
  }

  /** Issues a new pair in its own transaction. Returns null if the given access token is no longer live. */
  reissueAfterReauthentication(
    { id, userId, accessDigest }: CurrentSession,
    issued: NewTokenFamily,
    proven: readonly string[],
    client: Client,
  ): Promise<PairTerms | null> {
    const now = this.clock.now();
    const unit = function* (this: Reissue): Step<PairTerms | null> {
      const row = yield* firstOf(this.read.with({ id }));
      // An earlier run of this transaction, whose result was lost, has replaced the tokens.
      if (row?.['access_digest'] === issued.accessDigest) return termsFromRow(row);
      if (row?.['access_digest'] !== accessDigest) return null;
      const reissued = yield* this.replaceTokens(row, issued, proven, now);
      yield* this.events.write([newEvent('reauthentication', userId, client, now)]);
      return reissued;
    };
    return this.database.transaction(null, () => unit.call(this), { retryUnknownCommit: true });
  }

  private *replaceTokens(row: Row, issued: NewTokenFamily, proven: readonly string[], now: number) {
    const { id, methods: methodsRead, access_digest: accessDigestRead } = row;
    const { persistent } = termsFromRow(row);
    const expiries = expiriesAfter(now, this.options, isTrue(row['remembered']));
    const terms = termsOf({ ...expiries, persistent, absoluteEnd: Number(row['absolute_end']) });
    const methods = withProvenMethods(String(methodsRead), proven, now);
    const values = { ...issued, ...terms, id, now, methods, methodsRead, accessDigestRead };
    yield* changeAll(this.replace.with(values), 1);
    return { session: sessionFromRow(row), ...terms };
  }
}

/** `previous_network` is the network before a change: on PostgreSQL, the subquery reads the row before the update. */
function withEvent(rotation: string, events: EventLog): string {
  const extra = `CASE WHEN previous_network IS NULL THEN CAST(:eventExtra AS text) ELSE CAST(:changedExtra AS text) END`;
  return `WITH changed AS (${rotation} RETURNING s.{session.userId} AS user_id, ${columns('session', PAIR_COLUMNS, 's.')},
       (SELECT p.{session.lastNetwork} FROM {session} p
         WHERE p.{session.id} = s.{session.id} AND p.{session.lastNetwork} <> :network) AS previous_network),
     logged AS (${events.insertForUsersIn('changed', extra)} RETURNING 1 AS one)
   SELECT changed.* FROM changed WHERE ${failIfDeadlinePassed('logged')}`;
}

function optionsOf(rotation: Rotation, maxMs = Infinity): TransactionOptions {
  const onUnknownOutcome = (): void => void (rotation.outcomeUnknown = true);
  return { withinMs: Math.min(maxMs, rotation.budget.remainingMs), onUnknownOutcome };
}

/** Returns the session's last network if the client's network is another one. Returns null if either is unknown. */
export function previousNetworkOf({ lastNetwork }: RefreshableSession, { trackedNetwork }: Client): string | null {
  return trackedNetwork === '' || lastNetwork === trackedNetwork ? null : lastNetwork;
}

/** Returns the terms of a pair. A lowered absolute timeout of the session applies immediately. */
export function termsOf(pair: PairTerms & { readonly absoluteEnd: number }): PairTerms {
  const limited = (at: number): number => Math.min(at, pair.absoluteEnd);
  const { accessExpiresAt: access, refreshExpiresAt: refresh, persistent } = pair;
  return { accessExpiresAt: limited(access), refreshExpiresAt: limited(refresh), persistent };
}

function termsFromRow(row: Row): PairTerms {
  return {
    accessExpiresAt: Number(row['access_expires_at']),
    refreshExpiresAt: Number(row['refresh_expires_at']),
    persistent: isTrue(row['persistent']),
  };
}

function refreshableFromRow(row: Row) {
  return {
    session: sessionFromRow(row),
    /** Null if the account was not read. */
    account: accountFromRow(row),
    ...realmsFromRow(row),
    accessDigest: String(row['access_digest']),
    refreshDigest: String(row['refresh_digest']),
    familyDigest: String(row['family_digest']),
    generation: Number(row['generation']),
    ...termsFromRow(row),
    remembered: isTrue(row['remembered']),
    absoluteEnd: Number(row['absolute_end']),
    refreshedAt: row['refreshed_at'] === null ? null : Number(row['refreshed_at']),
    lastNetwork: (row['last_network'] ?? null) as string | null,
    replay: row['replay_seed'] === null ? null : replayFromRow(row),
  };
}

function replayFromRow(row: Row) {
  return {
    seed: String(row['replay_seed']),
    until: Number(row['replay_until']),
    transport: row['replay_transport'] as TokenTransport,
    networkDigest: String(row['replay_network_digest']),
    count: Number(row['replay_count']),
    /** Whether the first use of the new pair's access token is stored. */
    accessTokenUsed: row['first_used_at'] !== null,
  };
}
