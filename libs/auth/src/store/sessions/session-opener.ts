import { Injectable } from '@nestjs/common';
import { networkOf } from '../../domain/ip-address';
import type { OpenOutcome } from '../../domain/outcomes';
import type { OpenSession } from '../../domain/ports/sessions';
import { endEvents, newEvent } from '../../domain/session-events';
import { applySessionPolicy, REFUSAL_RECORDED_FOR_MS } from '../../domain/session-policy';
import { endStreaks } from '../accounts/sql-login-attempt-store';
import { VALID_TICKET } from '../accounts/sql-login-ticket-store';
import { UserLocks } from '../accounts/user-locks';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statement-factory';
import { affectedBy, changeAll, firstOf, rowsOf, type Step } from '../database/transaction';
import { firstEventIdAt } from '../events/event-ids';
import { EventWriter } from '../events/event-writer';
import { SessionRevocation } from './session-revocation';

/** The columns of a new session whose values are parameters of the same name. */
const PARAMETER_COLUMNS = `id userId ipAddress deviceType osFamily browserFamily deviceName createdAt authenticatedAt
  lastActivity idleExpiresAt absoluteExpiresAt accessDigest accessExpiresAt refreshDigest refreshExpiresAt familyDigest
  methods data`;

/** The columns of a new session and their values. All other columns are NULL. */
const NEW_SESSION: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PARAMETER_COLUMNS.split(/\s+/).map((property) => [property, `:${property}`])),
  state: "'active'",
  checkAt: ':expiresAt',
  loginNetwork: ':network',
  lastNetwork: ':lastNetwork',
  generation: '0',
  replayCount: '0',
};

/** Opens a session and applies the session policy, which can end other sessions or refuse the login. */
@Injectable()
export class SessionOpener {
  private readonly read;
  private readonly insert;
  private readonly endStreaks;
  private readonly readRefusals;
  private readonly readTicket;
  private readonly consumeTicket;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly locks: UserLocks,
    private readonly revocation: SessionRevocation,
    private readonly events: EventWriter,
  ) {
    const account = statements.account ? statements.accountStatus : "'active'";
    const sessions = 'FROM {session} WHERE {session.userId} = s.{lock.userId}';
    // Runs while the user's lock is held. `s` is the row of the lock. The ticket and, at the
    // session limit, the active sessions are read separately.
    this.read = statements.prepared(
      `SELECT s.{lock.credentialsVersion} AS version, ${account} AS account,
         (SELECT COUNT(*) ${sessions} AND {session.state} = 'active') AS active_sessions,
         (SELECT COUNT(*) FROM {session} WHERE {session.id} = :id) AS is_open,
         CASE WHEN EXISTS (SELECT 1 ${sessions}) AND NOT EXISTS (SELECT 1 ${sessions}
           AND {session.loginNetwork} = :network AND {session.deviceType} = :deviceType
           AND {session.osFamily} = :osFamily AND {session.browserFamily} = :browserFamily) THEN 1 ELSE 0 END AS is_new_device
       FROM {lock} s WHERE s.{lock.userId} = :userId`,
    );
    const columns = Object.keys(NEW_SESSION).map((property) => `{session.${property}}`);
    const values = Object.values(NEW_SESSION);
    this.insert = statements.prepared(`INSERT INTO {session} (${columns.join(', ')}) VALUES (${values.join(', ')})`);
    this.endStreaks = statements.prepared(endStreaks(statements.dialect));
    const presented = `{ticket.digest} = :digest AND {ticket.userId} = :userId AND {ticket.methods} = :methods
      AND ${VALID_TICKET}`;
    this.readTicket = statements.statement(`SELECT 1 AS valid FROM {ticket} WHERE ${presented}`);
    this.consumeTicket = statements.statement(`DELETE FROM {ticket} WHERE ${presented}`);
    this.readRefusals = statements.statement(
      `SELECT {event.ipAddress} AS ip_address FROM {event}
       WHERE {event.userId} = :userId AND {event.id} >= :firstId AND {event.occurredAt} > :since
         AND {event.event} = 'login_blocked' AND {event.extra} = :extra`,
    );
  }

  open(command: OpenSession): Promise<OpenOutcome> {
    // If the response to COMMIT is lost, the next run finds the session and returns the outcome of the
    // first run.
    let firstOutcome: OpenOutcome | undefined;
    const openOnce = function* (this: SessionOpener): Step<OpenOutcome> {
      return (firstOutcome = yield* this.openLocked(command, firstOutcome));
    };
    return this.database.transaction(() => openOnce.call(this), { retryUnknownCommit: true });
  }

  private *openLocked(command: OpenSession, firstOutcome?: OpenOutcome): Step<OpenOutcome> {
    const { session, client, now, credentialsVersion } = command;
    const { userId } = session;
    yield* this.locks.lock(userId);
    const network = client.trackedNetwork;
    const values = { ...session, ...client.device, network, lastNetwork: network || null };
    const state = (yield* firstOf(this.read.with(values)))!;
    if (firstOutcome && Number(state['is_open']) > 0) return firstOutcome;
    // The credentials or the account may have changed while the password was being verified.
    const isSameVersion = credentialsVersion === null || Number(state['version']) === credentialsVersion;
    if (!isSameVersion || state['account'] !== 'active') return { kind: 'credentials_changed' };

    const ticket = command.ticket && { ...command.ticket, userId, now };
    if (ticket && !(yield* firstOf(this.readTicket.with(ticket)))) return { kind: 'credentials_changed' };

    const isFull = Number(state['active_sessions']) >= command.maxSessions;
    const capacity = applySessionPolicy(isFull ? yield* this.revocation.lockAllActive(userId) : [], command, now);
    if (capacity.kind === 'limit_reached') {
      // The password was correct, so its failure streak ends although the login is refused.
      if (command.attempt) yield* affectedBy(this.endStreaks.with({ ...command.attempt }));
      yield* this.recordRefusal(command);
      return capacity;
    }
    yield* this.revocation.storeEnded(capacity.ended, now);
    if (ticket) yield* changeAll(this.consumeTicket.with(ticket), 1);

    const newDevice = client.recognizable && Number(state['is_new_device']) === 1;
    yield* affectedBy(this.insert.with({ ...values, ...command.issued, expiresAt: session.expiresAt }));
    if (command.attempt) yield* affectedBy(this.endStreaks.with({ ...command.attempt }));
    const opened = newEvent('login_success', userId, client, now, newDevice ? { new_device: true } : {});
    yield* this.events.write([...endEvents(capacity.ended, client, now), opened]);
    return { kind: 'opened', session, ended: capacity.ended, newDevice };
  }

  /** Records a login that the session limit refuses, at most once an hour for each user and network. */
  private *recordRefusal({ session: { userId }, client, now }: OpenSession): Step<void> {
    const refused = newEvent('login_blocked', userId, client, now, { reason: 'session_limit' });
    const since = now - REFUSAL_RECORDED_FOR_MS;
    const recent = { userId, since, firstId: firstEventIdAt(since), extra: JSON.stringify(refused.extra) };
    const addresses = (yield* rowsOf(this.readRefusals.with(recent))).map((row) => row['ip_address'] as string | null);
    if (addresses.some((address) => (address ? networkOf(address) : '') === client.trackedNetwork)) return;
    yield* this.events.write([refused]);
  }
}
