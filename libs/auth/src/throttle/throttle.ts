import { Inject, Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { AuthError, standardError, VerificationUnavailable } from '../base/errors';
import { foldName, maskName, type NameMatching } from '../base/fields';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { type Dialect, incomingValue, onDuplicate } from '../database/dialect';
import type { JoinedTransaction } from '../database/joined-transaction';
import { StatementFactory } from '../database/statements';
import { affectedBy, type Query, RolledBack, rowsOf, type Step, type Transaction } from '../database/transaction';
import { type Client, EventLog, newEvent, type Operation } from '../history/event-log';
import { type BlockScope, Signals } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';

/** The method name of a password. (RFC 8176, section 2) */
export const PASSWORD_METHOD = 'pwd';

/** The consecutive failures that begin the account block, if enabled, or end a session. (NIST SP 800-63B-4, 3.2.2) */
const MAX_FAILURES = 100;

/** The stored end of a block that only a reset ends: the last instant that a `Date` can represent. */
export const UNTIL_RESET = 8_640_000_000_000_000;

const FIRST_DELAY_MS = 30_000;
const LONGEST_DELAY_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Options = Pick<ResolvedAuthOptions, 'failedLogins' | 'absoluteTimeoutSeconds' | 'rememberMe'>;

/** Returns the counter whose delay or block refuses an attempt for the longest time, or null. */
export function refusal<C extends { readonly delayedUntil: number }>(counters: readonly C[], now: number): C | null {
  const longest = counters.reduce((one, other) => (other.delayedUntil > one.delayedUntil ? other : one));
  return longest.delayedUntil > now ? longest : null;
}

/** Returns until when a counter is kept after an attempt, unless a delay or block keeps it longer. */
export function expiryAfter(scope: BlockScope, now: number, options: Options): number {
  if (scope === 'account') return now + DAY_MS;
  if (scope === 'network') return now + 1000 * options.failedLogins.windowSeconds;
  // The failures within a session are counted for as long as a session can last.
  return now + 1000 * Math.max(options.absoluteTimeoutSeconds, Number(options.rememberMe.absoluteTimeoutSeconds));
}

/** Returns the delay or block that the last of a number of failures begins, and how long its counter is then kept. */
export function begins(
  scope: BlockScope,
  failures: number,
  now: number,
  options: Options,
  hasUser: boolean,
): { readonly until: number; readonly expiresAt: number } | null {
  const { throttleFrom, accountBlock } = options.failedLogins;
  if (scope === 'account') {
    if (failures < MAX_FAILURES) return null;
    if (accountBlock !== 'strict') return { until: now + DAY_MS, expiresAt: now + DAY_MS };
    // No user would reset the block of an unknown name, so it is kept for 30 days.
    return { until: UNTIL_RESET, expiresAt: hasUser ? UNTIL_RESET : now + 30 * DAY_MS };
  }
  // The 100th failure ends the session. Until its secret is verified, no parallel attempt is admitted.
  const leastMs = scope === 'session' && failures >= MAX_FAILURES ? FIRST_DELAY_MS : 0;
  const delayMs = Math.max(leastMs, delayAfter(failures, throttleFrom));
  if (delayMs === 0) return null;
  return { until: now + delayMs, expiresAt: Math.max(expiryAfter(scope, now, options), now + 2 * delayMs) };
}

/** Returns the delay after a number of failures: 30 seconds after failure `throttleFrom`, then doubled up to an hour. */
export function delayAfter(failures: number, throttleFrom: number | false): number {
  if (throttleFrom === false || failures < throttleFrom) return 0;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - throttleFrom));
}

/** A failure streak. The keys are digests, so that networks and names are not stored as plain text. */
interface Counter {
  readonly key: string;
  /** The digest by which all counters of a user, or of an unknown name, are reset. */
  readonly owner: string;
  readonly scope: BlockScope;
}

interface Counted extends Counter {
  readonly failures: number;
  readonly delayedUntil: number;
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

/** An attempt that was counted before its secret is verified. */
export interface Charge {
  readonly subject: Subject;
  /** The counters that count the attempt: only the first during a block of the account. */
  readonly counters: readonly Counted[];
  /** The delays and blocks that the attempt begins. */
  readonly begun: readonly { readonly scope: BlockScope; readonly until: number }[];
}

/**
 * Throttles attempts to verify a secret. Each attempt is counted before its secret is verified, and counts as failed
 * until the secret proves right, so that parallel guesses cannot exceed a limit. Counts are stored outside the
 * application's transaction, because its rollback must not undo them. (NIST SP 800-63B-4, 3.2.2; ASVS 6.3.1)
 */
@Injectable()
export class Throttle {
  private readonly sql;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly events: EventLog,
    private readonly signals: Signals,
    statements: StatementFactory,
  ) {
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
        `SELECT 1 AS familiar FROM {session} WHERE {session.userId} = :userId AND {session.loginNetwork} = :network
         UNION ALL SELECT 1 FROM {session}
         WHERE {session.userId} = :userId AND {session.state} = 'active' AND {session.lastNetwork} = :network LIMIT 1`,
      ),
    };
  }

  /** Returns what a login, or an attempt with a login ticket, counts against: the network, and all networks. */
  ofLogin(method: string, name: string, user: StoredUser | null, { network, realm }: Client): Subject {
    const account = user ? accountOf(method, user.id) : accountOfName(name, realm, this.options.nameMatching);
    const owner = user ? ownerOfUser(user.id) : acrossNetworks(account);
    const counters: Counter[] = [
      { key: sha256(`${network}\0${account}`), owner, scope: 'network' },
      { key: acrossNetworks(account), owner, scope: 'account' },
    ];
    return { counters, method, name, user };
  }

  /**
   * Returns what an attempt within a session counts against: the session, from all networks, so that a thief gets no
   * more guesses by changing networks. Methods other than the password also count per user, so that a thief gets no more
   * guesses by opening further sessions.
   */
  inSession(sessionId: string, method: string, user: StoredUser): Subject {
    const { id, username: name } = user;
    const key = sha256(`session\0${sessionId}\0${method}`);
    const session: Counter = { key, owner: ownerOfSessions(id), scope: 'session' };
    const account: Counter = { key: acrossNetworks(accountOf(method, id)), owner: ownerOfUser(id), scope: 'account' };
    return { counters: method === PASSWORD_METHOD ? [session] : [session, account], method, name, user };
  }

  /**
   * Counts an attempt before its secret is verified. A refused attempt leaves no row and no count.
   * @throws AuthError `too_many_attempts`, or the error of `Subject.begin`
   */
  async charge(subject: Subject, op: Operation): Promise<Charge> {
    const now = this.clock.now();
    const tryToCharge = (counters: readonly Counter[]): Promise<Charge | Counted> => {
      const unit = (): Transaction<Charge | Counted> => this.chargeLocked(subject, counters, now);
      // If the result of COMMIT is lost, the attempt may count twice.
      return this.keep(op.tx, (tx) => this.database.transaction(tx, unit, { retryUnknownCommit: true }));
    };
    const { throttleFrom, accountBlock } = this.options.failedLogins;
    const isBlocking = throttleFrom !== false && accountBlock !== false;
    let result = await tryToCharge(subject.counters.filter(({ scope }) => isBlocking || scope !== 'account'));
    if ('scope' in result && result.scope === 'account' && (await this.isFamiliar(subject.user, op))) {
      result = await tryToCharge(subject.counters.slice(0, 1));
    }
    if (!('scope' in result)) return result;
    const until = await this.endOfRefusal(result, now, op);
    // For a block that only a reset ends, clients retry after a day, for known and unknown names alike.
    throw standardError('too_many_attempts', Math.ceil(Math.min(until - now, DAY_MS) / 1000));
  }

  /** Counts an attempt and verifies its secret. Reports it as failed unless the result is truthy. Refunds after errors. */
  async attempt<T>(subject: Subject, op: Operation, verify: (charge: Charge) => Promise<T>): Promise<T> {
    const charge = await this.charge(subject, op);
    const result = await verify(charge).catch((error: unknown) => this.refund(charge, error, op));
    if (!result) await this.report(charge, subject.user, op);
    return result;
  }

  /** Deletes the counters, in the transaction of the success. */
  *clear(charge: Charge): Step<void> {
    yield* affectedBy(this.clearing(charge));
  }

  /** Deletes the counters in a statement of its own, which a rollback of the application does not undo. */
  async clearNow(charge: Charge, op: Operation): Promise<void> {
    await this.keep(op.tx, (tx) => this.database.run(tx, this.clearing(charge)));
  }

  /** Records an attempt whose secret is wrong, emits its signals, and ends the session at the 100th failure. */
  async report({ subject, counters, begun }: Charge, user: StoredUser | null, op: Operation): Promise<void> {
    const failureCount = counters[0]!.failures;
    const endSession = failureCount >= MAX_FAILURES ? subject.endSession : undefined;
    const blocks = begun
      // A delay does not matter to a session that ends.
      .filter(({ scope }) => !endSession || scope !== 'session')
      .map(({ scope, until }) => ({ scope, until: until === UNTIL_RESET ? null : new Date(until) }));
    // An unknown name may be a password that was entered in the wrong field.
    const username = user ? subject.name : maskName(subject.name);
    const { ipAddress } = op.client;
    const identity = { username, userId: user?.id ?? null, ipAddress };
    await this.keep(op.tx, async (tx) => {
      const now = this.clock.now();
      const userId = user ? String(user.id) : null;
      const failure = newEvent('login_failure', userId, op.client, now, { username, failure_count: failureCount });
      const events = [failure, ...blocks.map((block) => newEvent('login_blocked', userId, op.client, now, block))];
      await this.database.run(tx, () => this.events.insertOf(events));
      this.signals.emit(tx, 'login_failed', { ...identity, failureCount });
      for (const { scope, failures } of counters) {
        const threshold = scope === 'account' ? MAX_FAILURES / 2 : this.options.failedLogins.signalAt;
        if (failures !== threshold) continue;
        this.signals.emit(tx, 'brute_force_threshold_hit', { username, ipAddress, failureCount: failures, scope });
      }
      for (const block of blocks) this.signals.emit(tx, 'login_blocked', { ...identity, ...block });
    });
    if (endSession) await this.keep(op.tx, endSession);
  }

  /**
   * Takes the count of an attempt back that ended with a failure of the database, the queue or a service. Reports any
   * other error as a wrong secret. Rejects with the error.
   */
  async refund(charge: Charge, error: unknown, op: Operation): Promise<never> {
    const code = error instanceof AuthError ? error.code : null;
    if (code === 'database_unavailable' || code === 'busy' || error instanceof VerificationUnavailable) {
      const refunded = this.keep(op.tx, (tx) => this.database.transaction(tx, () => this.takeBack(charge)));
      // If this fails too, the attempt stays counted until its counters expire.
      const settled = refunded.catch(() => undefined);
      // While the database does not answer, the caller does not wait for it a second time.
      if (code !== 'database_unavailable') await settled;
    } else {
      await this.report(charge, charge.subject.user, op);
    }
    throw error;
  }

  /** Resets the counters of a name, and those of every method of the user with that name, except within sessions. */
  async reset(name: string, user: StoredUser | null, { client, tx }: Operation): Promise<void> {
    const ofName = acrossNetworks(accountOfName(name, client.realm, this.options.nameMatching));
    const owners = user ? [ofName, ownerOfUser(user.id)] : [ofName];
    await this.database.run(tx, this.sql.deleteOwners.with({ owners }));
  }

  /** Resets the counters of a user's password, but not of a code, of which a reset must not allow more guesses. */
  async resetPassword(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.sql.deleteMethod.with({ owner: ownerOfUser(id), method: PASSWORD_METHOD }));
  }

  async forget(id: UserId, tx: JoinedTransaction | null): Promise<void> {
    await this.database.run(tx, this.sql.deleteOwners.with({ owners: [ownerOfUser(id), ownerOfSessions(id)] }));
  }

  /** Returns when a delay or block ends. If the clock was set back, it must not last longer than a new one would. */
  private async endOfRefusal({ key, scope, delayedUntil }: Counted, now: number, op: Operation): Promise<number> {
    const until = now + (scope === 'account' ? DAY_MS : LONGEST_DELAY_MS);
    if (delayedUntil <= until || delayedUntil >= UNTIL_RESET) return delayedUntil;
    const values = { key, until, expiresAt: Math.max(until, expiryAfter(scope, now, this.options)) };
    await this.keep(op.tx, (tx) => this.database.run(tx, this.sql.beginBlock.with(values)));
    return until;
  }

  private clearing({ subject, begun }: Charge): Query {
    // A block that only a reset ends remains, unless this attempt began it.
    const below = begun.some(({ until }) => until === UNTIL_RESET) ? UNTIL_RESET + 1 : UNTIL_RESET;
    return this.sql.clear.with({ ...firstAndLast(subject.counters), below });
  }

  private *chargeLocked(subject: Subject, counters: readonly Counter[], now: number): Transaction<Charge | Counted> {
    if (subject.begin) yield* subject.begin();
    const counted = yield* this.incremented(subject.method, counters, now);
    const refused = refusal(counted, now);
    if (refused) return new RolledBack<Charge | Counted>(refused);
    const begun = [];
    for (const { key, scope, failures } of counted) {
      const block = begins(scope, failures, now, this.options, subject.user !== null);
      if (!block) continue;
      yield* affectedBy(this.sql.beginBlock.with({ key, ...block }));
      begun.push({ scope, until: block.until });
    }
    return { subject, counters: counted, begun };
  }

  /** Locks the rows of the counters. */
  private *incremented(method: string, counters: readonly Counter[], now: number): Step<Counted[]> {
    const rows = counters.map(({ key, owner, scope }) => [key, owner, method, expiryAfter(scope, now, this.options)]);
    const upsert = rows.length > 1 ? this.sql.incrementTwo : this.sql.incrementOne;
    let stored = yield* rowsOf(upsert.with({ first: rows[0], last: rows[1], now }));
    // MySQL and MariaDB do not return the rows of an upsert.
    if (this.database.dialect === 'mysql') stored = yield* rowsOf(this.sql.read.with(firstAndLast(counters)));
    return counters.map((counter) => {
      const row = stored.find(({ id }) => id === counter.key)!;
      return { ...counter, failures: Number(row['failure_count']), delayedUntil: Number(row['delayed_until']) };
    });
  }

  private *takeBack({ subject, counters, begun }: Charge): Step<void> {
    if (subject.takeBack) yield* subject.takeBack();
    const ends = [0, ...begun.map(({ until }) => until)];
    yield* affectedBy(this.sql.decrement.with({ ...firstAndLast(counters), begun: ends }));
  }

  /**
   * Returns whether the client's network is the login network of a session on record, or the last network of an active
   * session. The query also runs for unknown names, so that the response time does not reveal whether a name exists.
   */
  private async isFamiliar(user: StoredUser | null, { client: { trackedNetwork }, tx }: Operation): Promise<boolean> {
    if (this.options.failedLogins.accountBlock !== 'unfamiliar' || trackedNetwork === '') return false;
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
      async () => void (await this.keep(joined.isOpen ? joined : null, write).catch(() => null)),
    );
    return result;
  }
}

const COUNTER_COLUMNS = `{failure.key} AS id, {failure.failureCount} AS failure_count,
  {failure.delayedUntil} AS delayed_until`;

/**
 * Returns an upsert that increments counters, whether or not the attempt is refused, and leaves their delays as they
 * were. An expired counter begins again. On PostgreSQL and SQLite, the upsert returns the counters.
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

// A prefix keeps methods, users and unknown names apart.
const accountOf = (method: string, id: UserId): string =>
  method === PASSWORD_METHOD ? `user\0${String(id)}` : `method\0${method}\0${String(id)}`;
const accountOfName = (name: string, realm: string | null, matching: NameMatching): string =>
  ['name', ...(realm === null ? [] : [realm]), foldName(name, matching)].join('\0');

const acrossNetworks = (account: string): string => sha256(`*\0${account}`);

/** The owner of a user's counters, except those within sessions. */
const ownerOfUser = (id: UserId): string => acrossNetworks(accountOf(PASSWORD_METHOD, id));
const ownerOfSessions = (id: UserId): string => sha256(`sessions\0${String(id)}`);

function firstAndLast(counters: readonly Counter[]): { readonly first: string; readonly last: string } {
  return { first: counters[0]!.key, last: counters.at(-1)!.key };
}
