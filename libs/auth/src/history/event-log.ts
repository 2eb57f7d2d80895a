import { Inject, Injectable, Logger } from '@nestjs/common';
import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { checkedDevice, DeviceDetector, type DeviceInfo, UNKNOWN_DEVICE } from '../adapters/device-detector';
import { REALM_LENGTH, RealmResolver } from '../adapters/realm';
import type { ClientInfo } from '../adapters/second-factor';
import type { TransportCall } from '../adapters/token-source';
import { Clock, OncePerMinute } from '../base/clock';
import { AuthError } from '../base/errors';
import { asciiJson, usernameProblem } from '../base/fields';
import { Random } from '../base/random';
import { Database } from '../database/database';
import type { TimeBudget } from '../database/deadline';
import { withLockTimeout } from '../database/dialect';
import type { AuthEventName } from '../database/entities';
import { DatabaseFailure, isLockTimeout } from '../database/failure';
import type { JoinedTransaction } from '../database/joined-transaction';
import { StatementFactory } from '../database/statements';
import { affectedBy, type Query, type Step, type Transaction } from '../database/transaction';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';

/** The client that requested an operation, and the application's transaction that the operation takes part in. */
export interface Operation {
  readonly client: Client;
  readonly tx: JoinedTransaction | null;
}

/** The validated data of a client. Contains only what the options allow to be stored, except for `network`. */
export interface Client {
  readonly info: ClientInfo;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly device: DeviceInfo;
  /** The IPv4 address or the IPv6 /64, even if addresses are not tracked. Empty if unknown. Stored only as digests. */
  readonly network: string;
  /** The network of `ipAddress`, or empty if addresses are not tracked. */
  readonly trackedNetwork: string;
  /** The realm of the call. Null if realms are not used, and empty if the call has none. See `isInRealm`. */
  readonly realm: string | null;
  /** Whether enough data is available to distinguish a new device from a known device. */
  readonly recognizable: boolean;
}

/** Validates the data of clients, determines their realms and devices, and drops what the options do not track. */
@Injectable()
export class ClientInspector {
  private readonly logger = new Logger('AuthDevices');
  private readonly deviceLogLimit;
  private readonly realmLogLimit;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    /** Null if the option `deviceDetector` is not set and `ua-parser-js` is not available. */
    @Inject(DeviceDetector) private readonly detector: DeviceDetector | null,
    @Inject(RealmResolver) private readonly realms: RealmResolver | null,
    clock: Clock,
  ) {
    this.deviceLogLimit = new OncePerMinute(clock);
    this.realmLogLimit = new OncePerMinute(clock);
  }

  inspect(info: ClientInfo): Client {
    const ip = canonicalIp(textOf(info.ipAddress));
    const ipAddress = ip && this.trackedAddress(ip);
    const userAgent = this.options.trackUserAgents ? cleanUserAgent(textOf(info.userAgent)) : '';
    const device = this.deviceOf(userAgent);
    return {
      info,
      ipAddress,
      userAgent,
      device,
      network: ip ? networkOf(ip) : '',
      trackedNetwork: ipAddress ? networkOf(ipAddress) : '',
      realm: this.realmIn(info),
      recognizable: ipAddress !== null && device !== UNKNOWN_DEVICE,
    };
  }

  /** Returns the realm that a client names, in the form of `Client.realm`. */
  realmIn({ realm }: ClientInfo): string | null {
    if (!this.realms) return null;
    return usernameProblem(realm, REALM_LENGTH) === null ? realm! : '';
  }

  /** Returns the realm of a call, in the form of `Client.realm`. */
  realmOf(call: TransportCall): string | null {
    try {
      const realm = this.realms?.realmOf(call) as string | Promise<unknown> | null;
      if (!(realm instanceof Promise)) return this.realmIn({ realm });
      realm.catch(() => undefined);
      throw new TypeError('realmOf() returned a promise. Return a text or null.');
    } catch (error) {
      this.realmLogLimit.logError(this.logger, 'The option realm failed, so the call has no realm', error);
      return '';
    }
  }

  /** Returns the form of a canonical address that the options allow to be stored and emitted, or null. */
  trackedAddress(ip: string): string | null {
    const { trackIps } = this.options;
    if (trackIps === 'truncated') return truncated(ip);
    return trackIps ? ip : null;
  }

  private deviceOf(userAgent: string): DeviceInfo {
    if (!this.options.trackDevices || !this.detector || userAgent === '') return UNKNOWN_DEVICE;
    try {
      return checkedDevice(this.detector.detect(userAgent));
    } catch (error) {
      const problem = 'The device detector failed, so the device is stored as unknown';
      this.deviceLogLimit.logError(this.logger, problem, error);
      return UNKNOWN_DEVICE;
    }
  }
}

/** Returns an empty string for other values, which transports other than HTTP may pass as a header. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Truncates first, because the header may be 16 kB long. `toWellFormed` replaces a surrogate without its pair. */
function cleanUserAgent(text: string): string {
  const printable = text.slice(0, 1_000).replace(/\p{Cc}/gu, '');
  return printable.slice(0, 500).toWellFormed();
}

/** Matches the address formats of some proxies: `192.0.2.1:1234`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*:[^\]]*)\](?::\d{1,5})?)$/;

/** Returns an IP address in canonical form (RFC 5952, IPv4 if it is mapped) without port and zone id, or null. */
export function canonicalIp(text: string | null | undefined): string | null {
  // A client may have sent a text of many kilobytes, which would take long to match.
  const address = (text ?? '').slice(0, 100).replace(WITH_PORT, '$1$2').replace(/%.*$/s, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return null;
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Returns the first address of the /24 (IPv4) or /48 (IPv6) of a canonical address. */
function truncated(ip: string): string {
  if (!ip.includes(':')) return ip.replace(/\d+$/, '0');
  return canonicalIp(`${networkOf(ip).split(':').slice(0, 3).join(':')}::`)!;
}

/** Returns the network of a canonical address: the IPv4 address itself, or the IPv6 /64. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array<string>(8 - groups.length - last.length).fill('0'), ...last);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** An event to write to `auth_events`. `userId` is null for an unknown username. */
export interface NewAuthEvent extends Pick<Client, 'ipAddress' | 'userAgent'> {
  readonly event: AuthEventName;
  readonly userId: string | null;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly at: number;
}

export function newEvent(
  event: AuthEventName,
  userId: string | null,
  { ipAddress, userAgent }: Pick<Client, 'ipAddress' | 'userAgent'>,
  at: number,
  extra: Record<string, unknown> = {},
): NewAuthEvent {
  return { event, userId, ipAddress, userAgent, extra, at };
}

const EPOCH = Date.UTC(2020, 0, 1);

const IDS_PER_MS = 4096;

/** Returns the smallest possible id of an event at this instant. Ids increase with time. */
export function firstEventIdAt(at: number): number {
  return Math.max(1, at - EPOCH) * IDS_PER_MS;
}

const INSERT = `INSERT INTO {event} ({event.id}, {event.userId}, {event.event}, {event.ipAddress}, {event.userAgent},
  {event.extra}, {event.occurredAt})`;

/** Databases limit the number of parameters of a statement. */
const ROWS_PER_INSERT = 200;

const EVENTS_PER_PRUNING = 100_000;

/** The minimum time for a revocation without its events, if writing them has used up the time of the operation. */
const MIN_REVOCATION_MS = 2_000;

export type WriteEvents = (events: readonly NewAuthEvent[]) => Step<void>;

/** Writes events to the durable log, in the transaction of the change that the events record. */
@Injectable()
export class EventLog {
  private readonly logger = new Logger('AuthEvents');
  private readonly insertOne;
  private readonly insertMany;
  private lastId = 0;
  private written = 0;
  /** Called after every 100,000 written events. Events that are rolled back also count. */
  onGrowth: () => void = () => undefined;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly random: Random,
  ) {
    this.insertOne = statements.prepared(`${INSERT} VALUES (:eventRow...)`);
    this.insertMany = statements.statement(`${INSERT} VALUES :rows...`);
  }

  *write(events: readonly NewAuthEvent[]): Step<void> {
    for (let i = 0; i < events.length; i += ROWS_PER_INSERT) {
      yield* affectedBy(this.insertOf(events.slice(i, i + ROWS_PER_INSERT)));
    }
  }

  /** Takes 1 to 200 events. */
  insertOf(events: readonly NewAuthEvent[]): Query {
    this.countWritten(events.length);
    if (events.length === 1) return this.insertOne.with({ eventRow: this.rowOf(events[0]!) });
    return this.insertMany.with({ rows: events.map((event) => this.rowOf(event)) });
  }

  /**
   * Returns an INSERT that is part of another statement and records an event for the user of the row in `table`
   * (PostgreSQL). The table must have at most one row, because there is only one event id.
   */
  insertForUsersIn(table: string, extra: string): string {
    return `${INSERT} SELECT CAST(:eventId AS bigint), user_id, CAST(:event AS text), CAST(:eventIp AS text),
      CAST(:eventUserAgent AS text), ${extra}, CAST(:eventAt AS bigint) FROM ${table}`;
  }

  /** Returns the values of the parameters of `insertForUsersIn`. */
  valuesOf(event: NewAuthEvent): Record<string, unknown> {
    const [eventId, , name, eventIp, eventUserAgent, eventExtra, eventAt] = this.rowOf(event);
    return { eventId, event: name, eventIp, eventUserAgent, eventExtra, eventAt };
  }

  /** Counts events that `insertForUsersIn` has written. `write` counts its own events. */
  countWritten(events: number): void {
    this.written += events;
    if (this.written < EVENTS_PER_PRUNING) return;
    this.written = 0;
    this.onGrowth();
  }

  /**
   * Runs a transaction that ends sessions. If its events cannot be written, for example because another transaction
   * keeps the event log locked, the transaction is run again without them, and the loss is logged.
   */
  async revoke<T>(
    tx: JoinedTransaction | null,
    revocation: (write: WriteEvents) => Transaction<T>,
    budget: Pick<TimeBudget, 'remainingMs'> = { remainingMs: Infinity },
  ): Promise<T> {
    // The application decides how long its own transactions wait for a lock.
    const write = tx ? this.write.bind(this) : this.writeUnlessLocked.bind(this);
    let isWriting = false;
    const run = (): Transaction<T> => {
      isWriting = false;
      return revocation(function* (events) {
        isWriting = true;
        if (events.length > 0) yield* write(events);
        isWriting = false;
      });
    };
    try {
      return await this.database.transaction(tx, run, { withinMs: budget.remainingMs });
    } catch (error) {
      if (!isWriting || !(error instanceof AuthError)) throw error;
    }
    const lost = new Set<string>();
    // eslint-disable-next-line require-yield -- nothing is written
    const skip: WriteEvents = function* (events) {
      for (const { event } of events) lost.add(event);
    };
    const withinMs = Math.max(budget.remainingMs, MIN_REVOCATION_MS);
    const outcome = await this.database.transaction(tx, () => revocation(skip), { withinMs });
    const problem = 'A change was stored without its events, because the event log could not be written.';
    if (lost.size > 0) this.logger.error(`${problem} Lost events: ${[...lost].join(', ')}`);
    return outcome;
  }

  /** Fails after two seconds if the event log is locked. */
  private *writeUnlessLocked(events: readonly NewAuthEvent[]): Step<void> {
    const { begin, end } = withLockTimeout(this.database.dialect);
    for (const query of begin) yield query;
    try {
      yield* this.write(events);
    } catch (error) {
      // Not a conflict, because running the transaction again would not help.
      const message = 'Another transaction has locked the event log.';
      throw isLockTimeout(error) ? new DatabaseFailure('LOG_LOCKED', message) : error;
    } finally {
      for (const query of end) yield query;
    }
  }

  private rowOf({ userId, event, ipAddress, userAgent, extra, at }: NewAuthEvent): unknown[] {
    const agent = this.database.storable(userAgent);
    return [this.nextId(at), userId, event, ipAddress, agent, asciiJson(extra), at];
  }

  /** Random offsets make equal ids of two instances rare. The transaction that fails is run again with new ids. */
  private nextId(at: number): number {
    const first = firstEventIdAt(at);
    this.lastId = this.lastId < first ? first + this.random.integer(2048) : this.lastId + 1 + this.random.integer(512);
    return this.lastId;
  }
}
