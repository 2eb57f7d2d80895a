import { Inject, Injectable } from '@nestjs/common';
import type { DeviceInfo, DeviceType } from '../adapters/device-detector';
import type { SessionData, SessionDataPatch } from '../adapters/login-policy';
import type { AccountStatus } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { asciiJson, isPlainObject } from '../base/fields';
import { Random } from '../base/random';
import type { AuthSession, EndReason, SessionState } from '../database/entities';
import { greatest, least, onDuplicate } from '../database/dialect';
import { columns, integerLiteral, type Statement, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Row, type Step } from '../database/transaction';
import type { SessionInfo } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { lifetimesOf, remembersSessions } from '../options/resolve-options';
import { Users, READ_CREDENTIALS_VERSION } from '../users/users';

type RecordedColumn =
  | ('id' | 'userId' | 'state' | 'ipAddress' | 'lastIpAddress' | 'createdAt' | 'authenticatedAt' | 'lastActivity')
  | ('methods' | 'actor' | keyof DeviceInfo);

/** A stored session. Instants are in milliseconds since 1970 (UTC). */
export interface SessionRecord extends Readonly<Pick<AuthSession, RecordedColumn>> {
  /** When the session expires without further activity. */
  readonly expiresAt: number;
}

/** The administrator who acts as the user, as JSON in the column `actor`. When `authenticatedAt` changes, this ends. */
export type StoredActor = Readonly<Record<'userId' | 'sessionId' | 'reason', string> & { authenticatedAt: number }>;

export interface EndedSession {
  readonly session: SessionRecord;
  readonly reason: EndReason;
}

/** If the session has expired, the reason is `expired`. */
export function toEndedSession(session: SessionRecord, now: number, reasonIfLive: EndReason): EndedSession {
  if (isExpired(session, now)) return { session: { ...session, state: 'expired' }, reason: 'expired' };
  return { session: { ...session, state: reasonIfLive === 'logout' ? 'logged_out' : 'revoked' }, reason: reasonIfLive };
}

/** Returns whether the session has reached its idle or absolute timeout, to the millisecond. (ASVS 7.3.1, 7.3.2) */
export function isExpired({ expiresAt }: SessionRecord, now: number): boolean {
  return now >= expiresAt;
}

export function toSessionInfo(record: SessionRecord, currentId: string | null): SessionInfo {
  const { id, state, ipAddress, lastIpAddress, deviceType, osFamily, browserFamily, deviceName } = record;
  return {
    id,
    state,
    ipAddress,
    deviceType,
    osFamily,
    browserFamily,
    deviceName,
    createdAt: new Date(record.createdAt),
    lastActivity: new Date(record.lastActivity),
    isCurrent: id === currentId,
    lastIpAddress,
    expiresAt: new Date(record.expiresAt),
    methods: methodTimes(record.methods).map(([name]) => name),
    impersonated: record.actor !== null,
  };
}

/** Drivers return 64-bit columns as numbers or as text. */
export function sessionFromRow(row: Row): SessionRecord {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    state: row['state'] as SessionState,
    ipAddress: (row['ip_address'] ?? null) as string | null,
    lastIpAddress: (row['last_ip_address'] ?? null) as string | null,
    deviceType: row['device_type'] as DeviceType,
    osFamily: String(row['os_family']),
    browserFamily: String(row['browser_family']),
    deviceName: String(row['device_name']),
    createdAt: Number(row['created_at']),
    authenticatedAt: Number(row['authenticated_at']),
    lastActivity: Number(row['last_activity']),
    expiresAt: Number(row['expires_at']),
    methods: String(row['methods']),
    actor: (row['actor'] ?? null) as string | null,
  };
}

/** Returns a boolean column, which drivers return as a boolean or a number. */
export function isTrue(value: unknown): boolean {
  return Number(value) === 1;
}

export function accountFromRow(row: Row): AccountStatus | null {
  return (row['account'] ?? null) as AccountStatus | null;
}

/** Returns the realm of a session and that of its user, which is null if only the user store knows it. */
export function realmsFromRow(row: Row): { readonly realm: string | null; readonly userRealm: string | null } {
  const textOf = (column: string): string | null => (row[column] ?? null) as string | null;
  return { realm: textOf('realm'), userRealm: textOf('user_realm') };
}

const SESSION_COLUMNS = `id userId actor state ipAddress lastIpAddress methods deviceType osFamily browserFamily deviceName createdAt authenticatedAt
  lastActivity`;

/** SQL expressions on a session `s`, which depend on the options and on where the users are stored. */
@Injectable()
export class SessionSql {
  /** When the session ends even if it is refreshed. Only a lowered timeout applies to open sessions. */
  readonly absoluteEnd: string;
  readonly expiresAt: string;
  /** How long an ended session is stored, counted from its login, in milliseconds. */
  readonly retentionMs: string;
  /** The status of the user, or NULL if only the user store knows it. */
  readonly account: string;
  readonly columns: string;
  readonly columnsWithAccount: string;
  /** The columns that `realmsFromRow` reads, after a comma. Empty if realms are not used. */
  readonly realmColumns: string;
  /** Begins with AND. Without the option `realm`, excludes the sessions that have a realm. Otherwise empty. */
  readonly withoutRealm: string;
  private readonly idleMs: string;

  constructor(
    private readonly statements: StatementFactory,
    users: Users,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const { dialect } = statements;
    const [remembered, ordinary] = [lifetimesOf(options, true), lifetimesOf(options, false)];
    this.idleMs = this.ifRemembered(integerLiteral(remembered.idleMs), integerLiteral(ordinary.idleMs));
    this.retentionMs = integerLiteral(options.history.retentionDays * 86_400_000);
    const absoluteMs = this.ifRemembered(integerLiteral(remembered.absoluteMs), integerLiteral(ordinary.absoluteMs));
    const configuredEnd = `s.{session.createdAt} + ${absoluteMs}`;
    this.absoluteEnd = least(dialect, 's.{session.absoluteExpiresAt}', configuredEnd);
    const idleEnd = `s.{session.lastActivity} + ${this.idleMs}`;
    this.expiresAt = least(dialect, 's.{session.idleExpiresAt}', idleEnd, this.absoluteEnd);
    this.account = users.sql?.status ?? 'NULL';
    this.columns = `${columns('session', SESSION_COLUMNS, 's.')}, ${this.expiresAt} AS expires_at`;
    this.columnsWithAccount = `${this.columns}, ${this.account} AS account`;
    this.realmColumns = options.realm
      ? `, s.{session.realm} AS realm, ${users.sql?.realm ?? 'NULL'} AS user_realm`
      : '';
    this.withoutRealm = options.realm ? '' : 'AND s.{session.realm} IS NULL';
  }

  /** Returns an expression for a remembered session or another one. Without `rememberMe`, all sessions are as others. */
  ifRemembered(remembered: string, otherwise: string): string {
    if (!remembersSessions(this.options)) return otherwise;
    return `CASE WHEN s.{session.remembered} THEN ${remembered} ELSE ${otherwise} END`;
  }

  /** Compiles a SELECT of sessions `s`. `rest` may contain a clause that locks the rows. */
  select(rest: string, selected = this.columns): Statement {
    return this.statements.statement(`SELECT ${selected} FROM {session} s ${rest}`);
  }

  /**
   * Returns the assignments that record activity at the instant `at`, and extend the session by its own idle timeout or
   * the configured one, whichever is shorter.
   */
  activityAt(at: string): string {
    const { dialect } = this.statements;
    const last = greatest(dialect, 's.{session.lastActivity}', at);
    const stored = 's.{session.idleExpiresAt} - s.{session.lastActivity}';
    const allowance = least(dialect, stored, this.idleMs);
    // MySQL evaluates assignments from left to right, so the idle end, which depends on the previous activity, is first.
    return `{session.idleExpiresAt} = ${last} + ${allowance}, {session.lastActivity} = ${last}`;
  }
}

/** Versions of credentials are below this limit, so that the sum of two fits into an `integer` column. */
const VERSION_LIMIT = 2 ** 30;

/**
 * The locks of users, and the versions of their credentials. A transaction that opens a session of a user, or ends
 * several sessions of the user, first takes the user's lock, so that such transactions run one after another. The
 * exceptions are pruning, which skips locked sessions, and batches that an administrator ends by criteria other than
 * the user alone, which are run again after a conflict.
 */
@Injectable()
export class UserLock {
  private readonly sql;

  constructor(
    statements: StatementFactory,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {
    // The INSERT locks the row whether it existed or not. A Galera cluster detects conflicts between two nodes only in
    // rows that change, so each lock changes the row.
    const count = '{lock.lockCount} = {lock}.{lock.lockCount} + 1';
    this.sql = {
      lock: statements.prepared(
        `INSERT INTO {lock} ({lock.userId}, {lock.credentialsVersion}, {lock.lockCount}) VALUES (:userId, 0, 0)
         ${onDuplicate(statements.dialect, '{lock.userId}', count)}`,
      ),
      readVersion: statements.statement(READ_CREDENTIALS_VERSION),
      changeVersion: statements.statement(
        `UPDATE {lock} SET {lock.credentialsVersion} = ({lock.credentialsVersion} + :step) % ${VERSION_LIMIT},
           {lock.loginsRevokedAt} = :now WHERE {lock.userId} = :userId`,
      ),
      removeResets: statements.statement('DELETE FROM {reset} WHERE {reset.userId} = :userId'),
      removeTickets: statements.statement('DELETE FROM {ticket} WHERE {ticket.userId} = :userId'),
    };
  }

  /** Waits for the lock, which is held until the end of the transaction. The other methods require the lock. */
  *lock(userId: string): Step<void> {
    yield* affectedBy(this.sql.lock.with({ userId }));
  }

  /** Returns the version of the credentials, which does not change while the lock is held. */
  *version(userId: string): Step<number> {
    return Number((yield* firstOf(this.sql.readVersion.with({ userId })))!['version']);
  }

  *revokeCredentials(userId: string): Step<void> {
    yield* this.revokeLogins(userId);
    yield* this.revokeResetTokens(userId);
  }

  *revokeResetTokens(userId: string): Step<void> {
    yield* affectedBy(this.sql.removeResets.with({ userId }));
  }

  /**
   * Revokes the login tickets, the tokens of an earlier system, and the logins in progress: a login that has read the
   * previous version of the credentials must repeat its checks, for example whether the user needs a second factor. The
   * step is random, so that the version also differs from that of an earlier user with the same id, whose row was
   * deleted while a login was in progress.
   */
  *revokeLogins(userId: string): Step<void> {
    const step = 1 + this.random.integer(VERSION_LIMIT - 1);
    yield* affectedBy(this.sql.changeVersion.with({ userId, step, now: this.clock.now() }));
    yield* affectedBy(this.sql.removeTickets.with({ userId }));
  }
}

/** The proven methods and the application's data, as sessions and login tickets store them. */
export interface StoredProofs {
  /** A JSON object: the name of each method with the instant of its last proof, in milliseconds. */
  readonly methods: string;
  /** A JSON object, or null if there is no data. */
  readonly data: string | null;
}

/** The methods that identified a user, and the data to keep on the session. */
export interface GivenProofs {
  /** How the user was identified, as 1 to 8 names such as `hwk` (RFC 8176). Default: none. */
  readonly methods?: readonly string[];
  /** A JSON object of at most 1,024 bytes to keep on the session. Default: none. */
  readonly data?: Partial<SessionData>;
  /** Whether the session gets the lifetimes of the option `rememberMe`. Default: false. */
  readonly rememberMe?: boolean | undefined;
}

export const PROOF_COLUMNS = 'methods data';

export function proofsFromRow(row: Row): StoredProofs {
  return { methods: row['methods'] as string, data: (row['data'] ?? null) as string | null };
}

const MAX_METHODS = 8;

/** The maximum size of `data`, as JSON text in UTF-8. */
const MAX_DATA_BYTES = 1024;

const METHOD_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const METHOD_NAME_RULE =
  'RFC 8176 defines common names. A name begins with a lowercase letter and has at most 32 characters of a-z, 0-9, _ and -.';

function methodTimes(stored: string): [string, number][] {
  return Object.entries(JSON.parse(stored) as Record<string, number>);
}

export function provenMethods(stored: string): Record<string, Date> {
  return Object.fromEntries(methodTimes(stored).map(([name, provedAt]) => [name, new Date(provedAt)]));
}

/** Returns the stored methods after the named methods have been proven. Keeps the 8 methods with the latest proofs. */
export function withProvenMethods(stored: string, names: readonly string[], now: number): string {
  const others = methodTimes(stored).filter(([name]) => !names.includes(name));
  const proved = [...others, ...[...new Set(names)].map((name): [string, number] => [name, now])];
  const latest = proved.sort(([, a], [, b]) => a - b).slice(-MAX_METHODS);
  return JSON.stringify(Object.fromEntries(latest));
}

export function assertMethods(names: readonly string[]): void {
  const isList = Array.isArray(names) && names.length > 0 && names.length <= MAX_METHODS;
  if (isList && names.every(isMethodName)) return;
  throw new Error(
    `methods is ${JSON.stringify(names)}. Pass 1 to ${MAX_METHODS} names, such as ['otp']. ${METHOD_NAME_RULE}`,
  );
}

export function assertMethod(name: string): void {
  if (isMethodName(name)) return;
  throw new Error(`method is ${JSON.stringify(name)}. Pass a name, such as 'otp'. ${METHOD_NAME_RULE}`);
}

function isMethodName(name: unknown): boolean {
  return typeof name === 'string' && METHOD_NAME.test(name);
}

/** @throws Error if the methods or the data are invalid */
export function storedProofs({ methods, data }: GivenProofs, now: number): StoredProofs {
  if (methods !== undefined) assertMethods(methods);
  const stored = data === undefined ? null : patchedData(null, data);
  return { methods: withProvenMethods('{}', methods ?? [], now), data: stored };
}

/** Applies a patch to stored data. @throws Error if the patch or the result cannot be stored */
export function patchedData(stored: string | null, patch: SessionDataPatch): string {
  // Checked before the copy, which would turn any other value into an object.
  storedData(patch);
  const merged = { ...(JSON.parse(stored ?? '{}') as object), ...patch };
  const isKept = ([key, value]: [string, unknown]): boolean => value !== null || !Object.hasOwn(patch, key);
  return storedData(Object.fromEntries(Object.entries(merged).filter(isKept)));
}

/** Converts data to JSON. Refuses, for example, a `Date`, which JSON would convert to a string. */
function storedData(data: unknown): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || !isJson(data)) {
    throw new Error(
      'data cannot be stored as JSON. Pass a plain object of strings, numbers, booleans, null, arrays and objects, ' +
        'without a key __proto__.',
    );
  }
  const text = JSON.stringify(data);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_DATA_BYTES) return asciiJson(data);
  throw new Error(
    `data has ${bytes} bytes as JSON, which is more than ${MAX_DATA_BYTES}. Store larger data in your own table.`,
  );
}

/** @param depth the levels that may be nested. Data with more levels exceeds the maximum size or is cyclic */
function isJson(value: unknown, depth = MAX_DATA_BYTES): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null) return true;
  if (depth === 0) return false;
  const areJson = (values: unknown[]): boolean => values.every((one) => isJson(one, depth - 1));
  // Unlike `every`, `Array.from` does not skip the holes of an array, which JSON would convert to null.
  if (Array.isArray(value)) return areJson(Array.from(value));
  // A copy by assignment would turn the key `__proto__` into the prototype.
  return isPlainObject(value) && !Object.hasOwn(value, '__proto__') && areJson(Object.values(value));
}
