import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { AuthError, standardError, VerificationUnavailable } from '../base/errors';
import { foldName, maskName } from '../base/fields';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { type Dialect, incomingValue, onDuplicate } from '../database/dialect';
import type { JoinedTransaction } from '../database/joined-transaction';
import { StatementFactory } from '../database/statements';
import { affectedBy, type Query, RolledBack, rowsOf, type Step, type Transaction } from '../database/transaction';
import { type Client, EventLog, newEvent, type Operation } from '../history/event-log';
import { type BlockScope, Signals } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import {
  begins,
  blockUntil,
  expiryAfter,
  HALFWAY_FAILURES,
  type Limits,
  type LoginBlock,
  MAX_FAILURES,
  PASSWORD_METHOD,
  longestUntil,
  refusal,
  RESET_RETRY_SECONDS,
  UNTIL_RESET,
} from './limits';

/** A number of consecutive failures. The keys are digests, so that networks and names are not stored as plain text. */
interface Counter {
  readonly key: string;
  /** The digest by which all counters of a user, or of an unknown name, are reset. */
  readonly owner: string;
  readonly scope: BlockScope;
}

/** What an attempt counts against. */
export interface Subject {
  /** One or two counters, in the order in which their rows are locked. */
  readonly counters: readonly Counter[];
  readonly method: string;
  /** The name as it was entered, or the name of the user. */
  readonly name: string;
  readonly user: StoredUser | null;
  /** Counts the attempt for a login ticket, or checks the session. Begins the transaction of the charge. */
  readonly begin?: () => Step<void>;
  /** Takes the count of the login ticket back. */
  readonly takeBack?: () => Step<void>;
  /** Ends the session, after the 100th failure. */
  readonly endSession?: (tx: JoinedTransaction | null) => Promise<unknown>;
}

/** A counter after it was incremented. */
interface Counted extends Counter {
  readonly failures: number;
  readonly delayedUntil: number;
}

/** An attempt that was counted before its secret is verified. */
export interface Charge {
  readonly subject: Subject;
  /** The counters that count the attempt: only the first during a block of the account. */
  readonly counters: readonly Counted[];
  /** The failures of the first counter, this attempt included. */
  readonly failureCount: number;
  /** The delays and blocks that the attempt begins. */
  readonly begun: readonly LoginBlock[];
}

/**
 * Throttles the attempts to verify a password or another secret. Each attempt is counted before its secret is
 * verified, and counts as failed until the secret proves right. Parallel guesses therefore cannot exceed a limit.
 * Counts are stored outside the application's transaction, because its rollback must not undo them.
 * (NIST SP 800-63B-4, 3.2.2; ASVS 6.3.1)
 */
@Injectable()
export class Throttle {
  private readonly limits: Limits;
  private readonly sql;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly events: EventLog,
    private readonly signals: Signals,
    statements: StatementFactory,
  ) {
    const { throttleFrom, windowSeconds, accountBlock } = options.failedLogins;
    this.limits = {
      throttleFrom,
      windowMs: windowSeconds * 1000,
      sessionMs: options.absoluteTimeoutSeconds * 1000,
      accountBlock: throttleFrom !== false && accountBlock,
    };
    const { dialect } = statements;
    const keys = '{failure.key} IN (:first, :last)';
    // PostgreSQL locks the rows in the order of the counters, so that attempts do not deadlock. MySQL and MariaDB lock
    // them in the order of the index. A deadlock there is resolved by running the transaction again.
    const inOrder =
      dialect === 'postgres'
        ? `{failure.key} IN (SELECT {failure.key} FROM {failure} WHERE ${keys} ORDER BY {failure.key} = :last FOR UPDATE)`
        : keys;
    this.sql = {
      incrementOne: statements.prepared(increment(dialect, '(:first..., 1, 0)')),
      incrementTwo: statements.prepared(increment(dialect, '(:first..., 1, 0), (:last..., 1, 0)')),
      read: statements.prepared(`SELECT ${COUNTER_COLUMNS} FROM {failure} WHERE ${keys} FOR UPDATE`),
      beginBlock: statements.statement(
        `UPDATE {failure} SET {failure.delayedUntil} = :until, {failure.expiresAt} = :expiresAt
         WHERE {failure.key} = :key`,
      ),
      clear: statements.prepared(`DELETE FROM {failure} WHERE {failure.delayedUntil} < :below AND ${inOrder}`),
      decrement: statements.statement(
        `UPDATE {failure} SET {failure.failureCount} = {failure.failureCount} - 1, {failure.delayedUntil} =
           CASE WHEN {failure.delayedUntil} IN (:begun...) THEN 0 ELSE {failure.delayedUntil} END
         WHERE {failure.failureCount} > 0 AND ${inOrder}`,
      ),
      deleteOwners: statements.statement('DELETE FROM {failure} WHERE {failure.accountKey} IN (:owners...)'),
      deleteMethod: statements.statement(
        'DELETE FROM {failure} WHERE {failure.accountKey} = :owner AND {failure.method} = :method',
      ),
      readFamiliar: statements.statement(
        `SELECT 1 AS familiar FROM {session}
         WHERE {session.userId} = :userId AND {session.loginNetwork} = :network
         UNION ALL
         SELECT 1 FROM {session}
         WHERE {session.userId} = :userId AND {session.state} = 'active' AND {session.lastNetwork} = :network LIMIT 1`,
      ),
    };
  }

  /** Returns what a login by password counts against. @param user the user with the entered name, or null */
  ofPassword(name: string, user: StoredUser | null, client: Client): Subject {
    if (user) return { ...this.ofMethod(PASSWORD_METHOD, user, client), name };
    const account = this.unknownAccount(name);
    return { counters: loginCounters(account, ownerOf(account), client), method: PASSWORD_METHOD, name, user };
  }

  /** Returns what an attempt with a login ticket counts against. */
  ofMethod(method: string, user: StoredUser, client: Client): Subject {
    const counters = loginCounters(accountOf(method, user.id), ownerOfUser(user.id), client);
    return { counters, method, name: user.username, user };
  }

  /**
   * Returns what an attempt within a session counts against. Failures from all networks count together, so that an
   * attacker with a stolen session gets no more guesses by changing networks. Methods other than the password also
   * count per user, so that the attacker gets no more guesses by opening further sessions.
   */
  inSession(sessionId: string, method: string, user: StoredUser): Subject {
    const key = sha256(`session\0${sessionId}\0${method}`);
    const session: Counter = { key, owner: ownerOfSessions(user.id), scope: 'session' };
    const others = method === PASSWORD_METHOD ? [] : [acrossNetworks(accountOf(method, user.id), ownerOfUser(user.id))];
    return { counters: [session, ...others], method, name: user.username, user };
  }

  /**
   * Counts an attempt before its secret is verified. A refused attempt leaves no row and no count.
   * @throws AuthError `too_many_attempts`, or the error of `Subject.begin`
   */
  async charge(subject: Subject, op: Operation): Promise<Charge> {
    const now = this.clock.now();
    const tryToCharge = (counters: readonly Counter[]): Promise<Charge | LoginBlock> => {
      const unit = (): Transaction<Charge | LoginBlock> => this.chargeLocked(subject, counters, now);
      // If the result of COMMIT is lost, the attempt may count twice.
      return this.keep(op.tx, (tx) => this.database.transaction(tx, unit, { retryUnknownCommit: true }));
    };
    const isBlocking = this.limits.accountBlock !== false;
    let result = await tryToCharge(subject.counters.filter(({ scope }) => isBlocking || scope !== 'account'));
    if ('scope' in result && result.scope === 'account' && (await this.isFamiliar(subject.user, op))) {
      result = await tryToCharge(subject.counters.slice(0, 1));
    }
    if (!('scope' in result)) return result;
    const { until } = await this.shortened(result, subject, now, op);
    throw standardError('too_many_attempts', until === null ? RESET_RETRY_SECONDS : Math.ceil((until - now) / 1000));
  }

  /** Deletes the counters after the secret proved right. Runs in the transaction of the success. */
  *clear(charge: Charge): Step<void> {
    yield* affectedBy(this.clearing(charge));
  }

  /** Deletes the counters in a statement of its own, which a rollback of the application does not undo. */
  async clearNow(charge: Charge, op: Operation): Promise<void> {
    await this.keep(op.tx, (tx) => this.database.run(tx, this.clearing(charge)));
  }

  /**
   * Records an attempt whose secret is wrong, emits its signals, and ends the session at the 100th failure.
   * @param user the user with the entered name, or null
   */
  async report(charge: Charge, user: StoredUser | null, op: Operation): Promise<void> {
    const { subject, failureCount } = charge;
    const endSession = failureCount >= MAX_FAILURES ? subject.endSession : undefined;
    // A delay does not matter to a session that ends.
    const begun = endSession ? charge.begun.filter(({ scope }) => scope !== 'session') : charge.begun;
    await this.keep(op.tx, (tx) => this.record({ ...charge, begun }, user, op.client, tx));
    if (endSession) await this.keep(op.tx, endSession);
  }

  /**
   * Takes the count of an attempt back that ended with a failure of the database, the queue or a service. Any other
   * error counts as a wrong secret, and is reported as one.
   * @returns never: rejects with the given error
   */
  async refund(charge: Charge, error: unknown, op: Operation): Promise<never> {
    const code = error instanceof AuthError ? error.code : null;
    if (code === 'database_unavailable' || code === 'busy' || error instanceof VerificationUnavailable) {
      // If this fails too, the attempt stays counted until its counters expire.
      const refunded = this.keep(op.tx, (tx) => this.database.transaction(tx, () => this.takeBack(charge)));
      const settled = refunded.catch(() => undefined);
      // While the database does not answer, the caller does not wait for it a second time.
      if (code !== 'database_unavailable') await settled;
    } else {
      await this.report(charge, charge.subject.user, op);
    }
    throw error;
  }

  /** Resets the counters of a name, and those of every method of the user with that name, except within sessions. */
  async reset(name: string, user: StoredUser | null, tx: JoinedTransaction | null): Promise<void> {
    const owners = [ownerOf(this.unknownAccount(name)), ...(user ? [ownerOfUser(user.id)] : [])];
    await this.database.run(tx, this.sql.deleteOwners.with({ owners }));
  }

  /** Resets the counters of a user's password, but not of a code, of which a reset must not allow more guesses. */
  async resetPassword(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.sql.deleteMethod.with({ owner: ownerOfUser(id), method: PASSWORD_METHOD }));
  }

  /** Deletes all counters of a user. */
  async forget(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.sql.deleteOwners.with({ owners: [ownerOfUser(id), ownerOfSessions(id)] }));
  }

  private unknownAccount(name: string): string {
    return `name\0${foldName(name, this.options.nameMatching)}`;
  }

  /** Shortens a delay or block that would last longer than any new one, because the clock was set back. */
  private async shortened(block: LoginBlock, subject: Subject, now: number, op: Operation): Promise<LoginBlock> {
    const until = longestUntil(block.scope, now);
    if (block.until === null || block.until <= until) return block;
    const { key } = subject.counters.find(({ scope }) => scope === block.scope)!;
    const values = { key, until, expiresAt: Math.max(until, expiryAfter(block.scope, now, this.limits)) };
    await this.keep(op.tx, (tx) => this.database.run(tx, this.sql.beginBlock.with(values)));
    return { ...block, until };
  }

  private clearing({ subject, begun }: Charge): Query {
    // A block that only a reset ends remains, unless this attempt began it.
    const below = begun.some(({ until }) => until === null) ? UNTIL_RESET + 1 : UNTIL_RESET;
    return this.sql.clear.with({ ...firstAndLast(subject.counters), below });
  }

  private *chargeLocked(subject: Subject, counters: readonly Counter[], now: number): Transaction<Charge | LoginBlock> {
    if (subject.begin) yield* subject.begin();
    const counted = yield* this.incremented(subject.method, counters, now);
    const refused = refusal(counted, now);
    if (refused) return new RolledBack<Charge | LoginBlock>(refused);
    const begun: LoginBlock[] = [];
    for (const { key, scope, failures } of counted) {
      const block = begins(scope, failures, now, this.limits, subject.user !== null);
      if (!block) continue;
      yield* affectedBy(this.sql.beginBlock.with({ key, ...block }));
      begun.push(blockUntil(scope, block.until));
    }
    return { subject, counters: counted, failureCount: counted[0]!.failures, begun };
  }

  /** Increments the counters, which locks their rows, and returns them. */
  private *incremented(method: string, counters: readonly Counter[], now: number): Step<Counted[]> {
    const [first, last] = counters.map(({ key, owner, scope }) => {
      return [key, owner, method, expiryAfter(scope, now, this.limits)];
    });
    const upsert = (last ? this.sql.incrementTwo : this.sql.incrementOne).with({ first, last, now });
    let stored = yield* rowsOf(upsert);
    // MySQL and MariaDB do not return the rows of an upsert.
    if (this.database.dialect === 'mysql') stored = yield* rowsOf(this.sql.read.with(firstAndLast(counters)));
    return counters.map((counter) => {
      const row = stored.find(({ id }) => id === counter.key)!;
      return { ...counter, failures: Number(row['failure_count']), delayedUntil: Number(row['delayed_until']) };
    });
  }

  private *takeBack({ subject, counters, begun }: Charge): Step<void> {
    if (subject.takeBack) yield* subject.takeBack();
    const untils = begun.map(({ until }) => until ?? UNTIL_RESET);
    yield* affectedBy(this.sql.decrement.with({ ...firstAndLast(counters), begun: [0, ...untils] }));
  }

  private async record(
    { subject, counters, failureCount, begun }: Charge,
    user: StoredUser | null,
    client: Client,
    tx: JoinedTransaction | null,
  ): Promise<void> {
    const now = this.clock.now();
    const userId = user ? String(user.id) : null;
    // An unknown name may be a password that was entered in the wrong field.
    const username = user ? subject.name : maskName(subject.name);
    const blocks = begun.map(({ scope, until }) => ({ scope, until: until === null ? null : new Date(until) }));
    const events = [
      newEvent('login_failure', userId, client, now, { username, failure_count: failureCount }),
      ...blocks.map(({ scope, until }) =>
        newEvent('login_blocked', userId, client, now, { scope, until: until?.toISOString() ?? null }),
      ),
    ];
    await this.database.run(tx, () => this.events.insertOf(events));
    const { ipAddress } = client;
    const identity = { username, userId: user?.id ?? null, ipAddress };
    this.signals.emit(tx, 'login_failed', { ...identity, failureCount });
    for (const { scope, failures } of counters) {
      const threshold = scope === 'account' ? HALFWAY_FAILURES : this.options.failedLogins.signalAt;
      if (failures !== threshold) continue;
      this.signals.emit(tx, 'brute_force_threshold_hit', { username, ipAddress, failureCount: failures, scope });
    }
    for (const block of blocks) this.signals.emit(tx, 'login_blocked', { ...identity, ...block });
  }

  /**
   * Returns whether the network of the client is exempt from the block of the account: it is the login network of a
   * session on record, or the last network of an active session. The query also runs for unknown names, so that the
   * response time does not reveal whether a name exists.
   */
  private async isFamiliar(user: StoredUser | null, { client: { trackedNetwork }, tx }: Operation): Promise<boolean> {
    if (this.limits.accountBlock !== 'unfamiliar' || trackedNetwork === '') return false;
    const query = this.sql.readFamiliar.with({ userId: String(user?.id ?? ''), network: trackedNetwork });
    return (await this.database.run(this.database.outside(tx), query)).rows.length > 0;
  }

  /**
   * Runs a write that a rollback of the application's transaction must not undo: outside the transaction. On SQLite,
   * which has only one connection, the write is part of the transaction, and runs again after a rollback.
   */
  private async keep<T>(tx: JoinedTransaction | null, write: (tx: JoinedTransaction | null) => Promise<T>): Promise<T> {
    const joined = this.database.outside(tx);
    const result = await write(joined);
    joined?.whenDecided(
      () => undefined,
      () => this.keep(joined.isOpen ? joined : null, write).then(noop, noop),
    );
    return result;
  }
}

const noop = (): void => undefined;

const COUNTER_COLUMNS = `{failure.key} AS id, {failure.failureCount} AS failure_count,
  {failure.delayedUntil} AS delayed_until`;

/**
 * Returns an upsert that increments the counters of the rows, whether or not the attempt is refused, and leaves their
 * delays as they were. An expired counter begins again. On PostgreSQL and SQLite, the upsert returns the counters.
 */
function increment(dialect: Dialect, rows: string): string {
  const stored = (column: string): string => `{failure}.{failure.${column}}`;
  const expiry = incomingValue(dialect, '{failure.expiresAt}');
  const unlessExpired = (column: string): string =>
    `CASE WHEN ${stored('expiresAt')} > :now THEN ${stored(column)} ELSE 0 END`;
  // The expiry comes last, because MySQL evaluates assignments from left to right, and the others read the old value.
  const assignments = `{failure.failureCount} = ${unlessExpired('failureCount')} + 1,
    {failure.delayedUntil} = ${unlessExpired('delayedUntil')},
    {failure.expiresAt} = CASE WHEN ${stored('expiresAt')} > ${expiry} THEN ${stored('expiresAt')} ELSE ${expiry} END`;
  return `INSERT INTO {failure} ({failure.key}, {failure.accountKey}, {failure.method}, {failure.expiresAt},
    {failure.failureCount}, {failure.delayedUntil}) VALUES ${rows}
    ${onDuplicate(dialect, '{failure.key}', assignments)} ${dialect === 'mysql' ? '' : `RETURNING ${COUNTER_COLUMNS}`}`;
}

/** The failures of a method are counted for the user. A prefix keeps methods, users and unknown names apart. */
function accountOf(method: string, id: UserId): string {
  return method === PASSWORD_METHOD ? `user\0${String(id)}` : `method\0${method}\0${String(id)}`;
}

function ownerOf(account: string): string {
  return sha256(`*\0${account}`);
}

/** The owner of a user's counters, except those within sessions. */
function ownerOfUser(id: UserId): string {
  return ownerOf(accountOf(PASSWORD_METHOD, id));
}

function ownerOfSessions(id: UserId): string {
  return sha256(`sessions\0${String(id)}`);
}

function loginCounters(account: string, owner: string, { network }: Client): readonly Counter[] {
  return [{ key: sha256(`${network}\0${account}`), owner, scope: 'network' }, acrossNetworks(account, owner)];
}

function acrossNetworks(account: string, owner: string): Counter {
  return { key: sha256(`*\0${account}`), owner, scope: 'account' };
}

function firstAndLast(counters: readonly Counter[]): { readonly first: string; readonly last: string } {
  return { first: counters[0]!.key, last: counters.at(-1)!.key };
}
