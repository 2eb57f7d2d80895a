import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { foldName, maskName } from '../base/fields';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import type { JoinedTransaction } from '../database/joined-transaction';
import { type Dialect, incomingValue, onDuplicate, readLocked } from '../database/dialect';
import { columns, StatementFactory } from '../database/statements';
import { affectedBy, RolledBack, type Row, rowsOf, type Step, type Transaction } from '../database/transaction';
import type { Client } from '../history/client';
import { EventLog, type NewAuthEvent, newEvent } from '../history/event-log';
import { Signals } from '../history/signal-publisher';
import type { AuthSignals, BlockScope } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { Slots } from './attempt-slots';
import {
  type Admission,
  admissionOf,
  type AttemptKeys,
  type AttemptStreaks,
  type CountedFailure,
  failedStreaks,
  type FailureStreak,
  HALFWAY_FAILURES,
  NO_STREAK,
  PASSWORD_METHOD,
  slotsOfAttempt,
  type StreakLimits,
  UNTIL_RESET,
} from './limits';

export interface AttemptToAdmit extends AttemptKeys {
  readonly now: number;
  readonly limits: StreakLimits;
  /** Whether to apply the limits of the account, from which a familiar network can be exempt. */
  readonly enforceAccountLimits: boolean;
}

export interface FailedAttempt extends AttemptKeys {
  readonly now: number;
  readonly limits: StreakLimits;
  /** Whether the account belongs to a user, and not to an unknown name. */
  readonly isKnown: boolean;
  /** Returns the events that record the failure. */
  readonly events: (counted: CountedFailure) => readonly NewAuthEvent[];
}

/** Stores the failure streaks of accounts, which all instances share. Each call is atomic. */
export abstract class LoginAttemptStore {
  /** Takes the slots of an admitted attempt. `fail`, `release` or storing a success frees them. */
  abstract admit(attempt: AttemptToAdmit, tx: JoinedTransaction | null): Promise<Admission>;
  /**
   * Returns whether a stored session of the user was opened, or an active session last refreshed, from this network.
   * @param userId null for an unknown name
   */
  abstract isFamiliar(userId: UserId | null, network: string, tx: JoinedTransaction | null): Promise<boolean>;
  /** Counts a failure and records its events. */
  abstract fail(attempt: FailedAttempt, tx: JoinedTransaction | null): Promise<CountedFailure>;
  /** Releases the slots of an attempt that ended without a result. */
  abstract release(keys: AttemptKeys, tx: JoinedTransaction | null): Promise<void>;
  /** Resets the streaks of an account in all networks: the streaks of the given method, or of all methods. */
  abstract reset(accountKey: string, method: string | undefined, tx: JoinedTransaction | null): Promise<void>;
}

/** The events to record and the signals to emit for a failed attempt. */
export interface Failure {
  /** Whether a user with this name exists. */
  readonly isKnown: boolean;
  readonly events: (counted: CountedFailure, now: number) => readonly NewAuthEvent[];
  /** Emits the signals. Called after the commit. */
  readonly emit: (counted: CountedFailure, tx: JoinedTransaction | null) => void;
}

/** Creates the events and signals of a failed attempt, and of the delays and blocks that the attempt starts. */
@Injectable()
export class FailedAttemptEvents {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly signals: Signals,
  ) {}

  /**
   * Returns the events and signals of a failed attempt.
   * @param user the user with this name, or null
   * @param scope the streak whose length is the `failureCount`: `network` or `session`
   */
  failureOf(client: Client, name: string, user: StoredUser | null, scope: BlockScope): Failure {
    const userId = user ? String(user.id) : null;
    // An unknown name may be a password that was entered in the wrong field.
    const username = user ? name : maskName(name);
    return {
      isKnown: user !== null,
      events: ({ failureCount, blocks }, now) => [
        newEvent('login_failure', userId, client, now, { username, failure_count: failureCount }),
        ...blocks.map((block) => {
          const until = block.until === null ? null : new Date(block.until).toISOString();
          return newEvent('login_blocked', userId, client, now, { scope: block.scope, until });
        }),
      ],
      emit: (counted, tx) => this.emit(tx, counted, scope, { username, userId: user?.id ?? null, ipAddress: client.ipAddress }),
    };
  }

  private emit(
    tx: JoinedTransaction | null,
    { failureCount, blocks, isHalfway }: CountedFailure,
    scope: BlockScope,
    identity: AttemptIdentity,
  ): void {
    const { username, ipAddress } = identity;
    this.signals.emit(tx, 'login_failed', { ...identity, failureCount });
    if (failureCount === this.options.failedLogins.signalAt) {
      this.signals.emit(tx, 'brute_force_threshold_hit', { username, ipAddress, failureCount, scope });
    }
    if (isHalfway) {
      const halfway = { failureCount: HALFWAY_FAILURES, scope: 'account' } as const;
      this.signals.emit(tx, 'brute_force_threshold_hit', { username, ipAddress, ...halfway });
    }
    for (const { scope: blocked, until } of blocks) {
      this.signals.emit(tx, 'login_blocked', {
        ...identity,
        scope: blocked,
        until: until === null ? null : new Date(until),
      });
    }
  }
}

type AttemptIdentity = Pick<AuthSignals['login_failed'], 'username' | 'userId' | 'ipAddress'>;

/**
 * Throttles failed logins, and failed attempts with login tickets, per account and method. An account is a user, or a
 * username that belongs to no user. Each failure counts toward two failure streaks: the account's streak in the
 * client's network, and the account's streak across all networks.
 */
@Injectable()
export class LoginThrottle {
  private readonly limits: StreakLimits;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly store: LoginAttemptStore,
  ) {
    const { throttleFrom, windowSeconds, accountBlock } = options.failedLogins;
    const isThrottled = throttleFrom !== false;
    this.limits = { throttleFrom, windowMs: windowSeconds * 1000, accountBlock: isThrottled && accountBlock };
  }

  /**
   * Returns the keys of the failure streaks that count a login by password.
   * @param username the name as it was entered
   * @param user the user with that name, or null
   */
  keysOf(username: string, user: StoredUser | null, { network }: Pick<Client, 'network'>): AttemptKeys {
    const account = user ? userAccount(user.id) : `name\0${foldName(username, this.options.nameMatching)}`;
    const owner = this.accountKeyOf(account);
    return { network: this.networkKeyOf(network, account), account: owner, owner, method: PASSWORD_METHOD };
  }

  /** Returns the keys of the failure streaks that count a user's attempts with one method. */
  keysOfMethod(method: string, user: StoredUser, client: Pick<Client, 'network'>): AttemptKeys {
    const passwordKeys = this.keysOf(user.username, user, client);
    if (method === PASSWORD_METHOD) return passwordKeys;
    const account = `method\0${method}\0${String(user.id)}`;
    const network = this.networkKeyOf(client.network, account);
    return { network, account: this.accountKeyOf(account), owner: passwordKeys.owner, method };
  }

  /**
   * Returns the slots that an attempt needs: one in the account's streak in the client's network, and one in the
   * account's streak across all networks. With `throttleFrom: false`, an attempt needs no slots.
   */
  slotsOf(
    keys: AttemptKeys,
    user: StoredUser | null,
    client: Pick<Client, 'trackedNetwork'>,
    tx: JoinedTransaction | null,
  ): Slots {
    const key = keys.network;
    if (this.limits.throttleFrom === false) {
      return { key, take: () => Promise.resolve({ kind: 'admitted' }), release: () => Promise.resolve() };
    }
    const isExempt = once(() => this.isFamiliar(user, client, tx));
    const admit = (now: number, enforceAccountLimits: boolean): Promise<Admission> =>
      this.store.admit({ ...keys, now, limits: this.limits, enforceAccountLimits }, tx);
    return {
      key,
      take: async (now) => {
        const admission = await admit(now, true);
        const isAccountLimit = admission.kind !== 'admitted' && admission.scope === 'account';
        return isAccountLimit && (await isExempt()) ? admit(now, false) : admission;
      },
      release: () => this.store.release(keys, tx),
    };
  }

  /** Counts a failed attempt, records its events and emits its signals. */
  async fail(
    keys: AttemptKeys,
    { isKnown, events, emit }: Failure,
    tx: JoinedTransaction | null,
  ): Promise<void> {
    const now = this.clock.now();
    const attempt = { ...keys, now, limits: this.limits, isKnown };
    emit(await this.store.fail({ ...attempt, events: (counted) => events(counted, now) }, tx), tx);
  }

  /** Resets a user's failure streaks of every method. Takes part in the application's transaction, if there is one. */
  resetUser(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    return this.store.reset(this.accountKeyOf(userAccount(id)), undefined, tx);
  }

  /**
   * Resets a user's failure streaks for passwords. The streaks of other methods continue, because a password reset
   * must not allow more guesses with other methods.
   */
  resetPasswordStreaks(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    return this.store.reset(this.accountKeyOf(userAccount(id)), PASSWORD_METHOD, tx);
  }

  /** Resets all failure streaks of a name, and of the user with that name. */
  async reset(username: string, user: StoredUser | null, tx: JoinedTransaction | null): Promise<void> {
    await this.store.reset(this.keysOf(username, null, { network: '' }).account, undefined, tx);
    if (user) await this.resetUser(user.id, tx);
  }

  /**
   * Returns whether the client is exempt from the account limits, because its network is familiar
   * to the user. With `accountBlock: 'strict'`, no client is exempt. The query also runs for
   * unknown names, so that the response time does not reveal whether a name exists.
   */
  private isFamiliar(
    user: StoredUser | null,
    { trackedNetwork }: Pick<Client, 'trackedNetwork'>,
    tx: JoinedTransaction | null,
  ): Promise<boolean> {
    if (this.limits.accountBlock !== 'unfamiliar' || trackedNetwork === '') return Promise.resolve(false);
    return this.store.isFamiliar(user?.id ?? null, trackedNetwork, tx);
  }

  private networkKeyOf(network: string, account: string): string {
    return sha256(`${network}\0${account}`);
  }

  /** Returns the key of the account's streak across all networks. */
  private accountKeyOf(account: string): string {
    return sha256(`*\0${account}`);
  }
}

/**
 * Returns the text that identifies a user's account. Unknown names have a different prefix, so that no name can
 * produce a user's key.
 */
function userAccount(id: UserId): string {
  return `user\0${String(id)}`;
}

/** Returns a function that calls `load` on its first call, and returns the same promise on every call. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= load());
}

/**
 * Transactions lock both rows by primary key before reading: first the row of the network, then the row of
 * the account.
 */
const LOCKS_BEFORE_READING = { anyIsolation: true };

/**
 * Stores failure streaks in the application's database. For each account and method, there is one row for
 * each network, and one row for all networks.
 */
@Injectable()
export class SqlLoginAttemptStore extends LoginAttemptStore {
  private readonly lockRows;
  private readonly readRows;
  private readonly writeRows;
  private readonly releaseRows;
  private readonly deleteAccount;
  private readonly deleteMethod;
  private readonly readFamiliar;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly events: EventLog,
  ) {
    super();
    const { dialect } = statements;
    const stored = (column: string): string => `{failure}.{failure.${column}}`;
    const incoming = (column: string): string => incomingValue(dialect, `{failure.${column}}`);
    const upsert = (assignments: readonly string[]): string =>
      `${INSERT} ${onDuplicate(dialect, '{failure.key}', assignments.join(', '))}`;

    // An expired value counts as zero. The incoming slots are added to the current value.
    const current = (column: string, until: string): string =>
      `CASE WHEN ${stored(until)} > :now THEN ${stored(column)} ELSE 0 END`;
    const later = (column: string): string =>
      `CASE WHEN ${stored(column)} > ${incoming(column)} THEN ${stored(column)} ELSE ${incoming(column)} END`;
    this.lockRows = statements.prepared(
      upsert([
        `{failure.failureCount} = ${current('failureCount', 'expiresAt')}`,
        `{failure.delayedUntil} = ${current('delayedUntil', 'expiresAt')}`,
        `{failure.pending} = ${current('pending', 'pendingUntil')} + ${incoming('pending')}`,
        // These assignments come last, because MySQL evaluates assignments from left to right, and the
        // assignments above read the old values.
        `{failure.pendingUntil} = ${later('pendingUntil')}`,
        `{failure.expiresAt} = ${later('expiresAt')}`,
      ]),
    );
    this.readRows = statements.prepared(
      `SELECT {failure.key} AS id, ${columns('failure', STREAK_COLUMNS.join(' '))}
       FROM {failure} WHERE {failure.key} IN (:network, :account) ${readLocked(dialect)}`,
    );
    this.writeRows = statements.statement(
      upsert(STREAK_COLUMNS.map((column) => `{failure.${column}} = ${incoming(column)}`)),
    );
    this.releaseRows = statements.statement(
      `UPDATE {failure} SET {failure.pending} = {failure.pending} - 1
       WHERE {failure.pending} > 0 AND {failure.key} IN (${failureKeysInLockOrder(dialect)})`,
    );
    this.deleteAccount = statements.statement('DELETE FROM {failure} WHERE {failure.accountKey} = :account');
    this.deleteMethod = statements.statement(
      'DELETE FROM {failure} WHERE {failure.accountKey} = :account AND {failure.method} = :method',
    );
    this.readFamiliar = statements.statement(
      `SELECT 1 AS familiar FROM {session}
       WHERE {session.userId} = :userId AND {session.loginNetwork} = :network
       UNION ALL
       SELECT 1 FROM {session}
       WHERE {session.userId} = :userId AND {session.state} = 'active' AND {session.lastNetwork} = :network LIMIT 1`,
    );
  }

  admit(attempt: AttemptToAdmit, tx: JoinedTransaction | null): Promise<Admission> {
    // If the transaction is repeated because the response to COMMIT was lost, the slots may be taken twice.
    // The surplus slots expire, which is better than failing with 503.
    return this.database.transaction(tx, () => this.admitLocked(attempt), {
      ...LOCKS_BEFORE_READING,
      retryUnknownCommit: true,
    });
  }

  async isFamiliar(userId: UserId | null, network: string, tx: JoinedTransaction | null): Promise<boolean> {
    // The statement is also run for an unknown name, so that the duration does not reveal whether the name
    // exists.
    const query = this.readFamiliar.with({ userId: String(userId ?? ''), network });
    return (await this.database.run(tx, query)).rows.length > 0;
  }

  fail(attempt: FailedAttempt, tx: JoinedTransaction | null): Promise<CountedFailure> {
    return this.database.transaction(tx, () => this.failLocked(attempt), LOCKS_BEFORE_READING);
  }

  async release(keys: AttemptKeys, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.releaseRows.with({ ...keys }));
  }

  async reset(account: string, method: string | undefined, tx: JoinedTransaction | null): Promise<void> {
    const removal =
      method === undefined ? this.deleteAccount.with({ account }) : this.deleteMethod.with({ account, method });
    await this.database.run(tx, removal);
  }

  private *admitLocked({ now, limits, enforceAccountLimits, ...keys }: AttemptToAdmit): Transaction<Admission> {
    const streaks = yield* this.lock(keys, now, slotsOfAttempt(now));
    const admission = admissionOf(streaks, now, limits, enforceAccountLimits);
    return admission.kind === 'admitted' ? admission : new RolledBack(admission);
  }

  private *failLocked({ now, limits, isKnown, events, ...keys }: FailedAttempt): Transaction<CountedFailure> {
    const { streaks, counted } = failedStreaks(yield* this.lock(keys, now), now, limits, isKnown);
    yield* affectedBy(this.writeRows.with(rowValues(keys, streaks)));
    yield* this.events.write(events(counted));
    return counted;
  }

  /** Creates or locks both rows, adds the slots, and reads the rows. */
  private *lock(keys: AttemptKeys, now: number, slots = NO_SLOTS): Step<AttemptStreaks> {
    yield* affectedBy(this.lockRows.with({ ...rowValues(keys, slots), now }));
    const rows = yield* rowsOf(this.readRows.with({ ...keys }));
    const streakOf = (key: string): FailureStreak => streakFromRow(rows.find((row) => row['id'] === key)!);
    return { network: streakOf(keys.network), account: streakOf(keys.account) };
  }
}

const NO_SLOTS: AttemptStreaks = { network: NO_STREAK, account: NO_STREAK };

const STREAK_COLUMNS = ['failureCount', 'pending', 'pendingUntil', 'delayedUntil', 'expiresAt'] as const;

/** Inserts the row of the network, then the row of all networks. The upsert locks them in this order. */
const INSERT = `INSERT INTO {failure} ({failure.key}, {failure.accountKey}, {failure.method},
  ${STREAK_COLUMNS.map((column) => `{failure.${column}}`).join(', ')})
  VALUES (:network, :owner, :method, :networkValues...), (:account, :owner, :method, :accountValues...)`;

/**
 * Returns a statement that ends the failure streaks after a successful attempt. Blocks that only a reset
 * ends remain.
 */
export function endStreaks(dialect: Dialect): string {
  return `DELETE FROM {failure} WHERE {failure.delayedUntil} < ${UNTIL_RESET}
    AND {failure.key} IN (${failureKeysInLockOrder(dialect)})`;
}

function rowValues(keys: AttemptKeys, { network, account }: AttemptStreaks): Record<string, unknown> {
  return { ...keys, networkValues: columnValues(network), accountValues: columnValues(account) };
}

/** Returns the values in the order of `STREAK_COLUMNS`. */
function columnValues({ failures, pending, pendingUntil, delayedUntil, expiresAt }: FailureStreak): unknown[] {
  return [failures, pending, pendingUntil, delayedUntil, expiresAt];
}

function streakFromRow(row: Row): FailureStreak {
  return {
    failures: Number(row['failure_count']),
    pending: Number(row['pending']),
    pendingUntil: Number(row['pending_until']),
    delayedUntil: Number(row['delayed_until']),
    expiresAt: Number(row['expires_at']),
  };
}

/**
 * Returns the two keys of a login attempt, as the operand of an IN condition. On PostgreSQL, the row of the network
 * is locked before the row of the account, as in `SqlLoginAttemptStore`, so that attempts do not deadlock. MySQL and
 * MariaDB lock the rows in the order of the index. A deadlock there is resolved by running the transaction again.
 */
export function failureKeysInLockOrder(dialect: Dialect): string {
  const keys = ':network, :account';
  if (dialect !== 'postgres') return keys;
  return `SELECT {failure.key} FROM {failure} WHERE {failure.key} IN (${keys}) ORDER BY {failure.key} = :account FOR UPDATE`;
}
