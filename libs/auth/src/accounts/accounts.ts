import { Inject, Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionData } from '../adapters/login-policy';
import { REALM_LENGTH } from '../adapters/realm';
import type { NewUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, notSupported, standardError, unknownUser } from '../base/errors';
import { newUsernameProblem, USERNAME_LENGTH, usernameProblem } from '../base/fields';
import { Database } from '../database/database';
import type { EndReason } from '../database/entities';
import { columns, StatementFactory } from '../database/statements';
import { affectedBy, changeAll, type Row, type Step } from '../database/transaction';
import { type Client, EventLog, type Operation, type WriteEvents } from '../history/event-log';
import { type AuthEventEntry, History } from '../history/history';
import type { SessionInfo } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { Passwords } from '../passwords/passwords';
import { type ApiKeyInfo, ApiKeys } from '../sessions/api-keys';
import { endEvents, EndSessions, NO_CLIENT } from '../sessions/end-sessions';
import { MAX_IMPERSONATION_SECONDS } from '../sessions/impersonate';
import {
  type EndedSession,
  sessionFromRow,
  SessionSql,
  toEndedSession,
  toSessionInfo,
  UserLock,
} from '../sessions/session';
import { Throttle } from '../throttle/throttle';
import { Users } from '../users/users';

/** The username, the password and further values of a user to create. */
export interface UserToCreate {
  readonly username: string;
  /** The password in plain text, or null for a user who logs in by another method. */
  readonly password: string | null;
  /**
   * Further values to store. With a mapped entity, each key is a property of the entity, as in
   * `{ fullName: 'Alice Liddell' }`. The key of an embedded or related property is its path, such as `'profile.phone'`
   * or `'team.id'`. A custom `UserStore` receives the object in `create`. The library's own entity, `AuthUser`, accepts
   * no properties. Default: none.
   */
  readonly properties?: Readonly<Record<string, unknown>>;
  /** The realm of the user, as a text of 1 to 64 characters. Required with the option `realm`, and refused without it. */
  readonly realm?: string;
}

/** The user that `createUser` created. */
export interface CreatedUser {
  readonly id: UserId;
  readonly username: string;
}

/** Options of `createUser`. */
export interface CreateUserOptions {
  /** Whether to skip `passwordPolicy`, for example to import users with existing passwords. Default: false. */
  readonly skipPolicy?: boolean;
}

/** A stored session, which may have ended. `isCurrent` is always false. */
export interface ExportedSession extends SessionInfo {
  /** Null while the session is active. */
  readonly endedAt: Date | null;
  readonly endReason: EndReason | null;
  readonly data: Readonly<Partial<SessionData>>;
}

/** What the library stores about a user, without secrets. */
export interface ExportedUserData {
  /** Newest first. */
  readonly sessions: readonly ExportedSession[];
  /** Newest first. Expired keys are included until pruning removes them. */
  readonly apiKeys: readonly ApiKeyInfo[];
  /** Newest first. */
  readonly events: readonly AuthEventEntry[];
}

/** The number of rows that one transaction deletes. */
const BATCH_SIZE = 500;

@Injectable()
export class Accounts {
  private readonly sql;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly events: EventLog,
    private readonly passwords: Passwords,
    private readonly throttle: Throttle,
    private readonly clock: Clock,
    private readonly history: History,
    private readonly keys: ApiKeys,
    sessionSql: SessionSql,
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
  ) {
    const removal = (table: string, condition = '') =>
      statements.statement(`DELETE FROM {${table}} WHERE {${table}.userId} = :userId ${condition}`);
    const batch = (table: string, condition = '') => {
      const limited = `${condition} LIMIT ${BATCH_SIZE}`;
      if (statements.dialect === 'mysql') return removal(table, limited);
      const ids = `SELECT {${table}.id} FROM {${table}} WHERE {${table}.userId} = :userId ${limited}`;
      return statements.statement(`DELETE FROM {${table}} WHERE {${table}.id} IN (${ids})`);
    };
    this.sql = {
      sessions: sessionSql.select(
        'WHERE s.{session.userId} = :userId ORDER BY s.{session.createdAt} DESC, s.{session.id} DESC',
        `${sessionSql.columns}, ${columns('session', 'endedAt endReason data', 's.')}`,
      ),
      impersonations: statements.statement(
        `SELECT {event.extra} AS extra FROM {event}
         WHERE {event.userId} = :userId AND {event.event} = 'impersonation_started' AND {event.occurredAt} > :since`,
      ),
      remove: ['session', 'event', 'reset', 'ticket', 'lock'].map((table) => removal(table)),
      removeKeys: removal('apiKey'),
      removeActive: removal('session', `AND {session.state} = 'active'`),
      removeBatch: [batch('session', `AND {session.state} <> 'active'`), batch('event')],
    };
  }

  /**
   * Creates a user and, unless ids are never reused, forgets an earlier user with the same id. A natural key is known
   * before the row exists, so the data is deleted first: no earlier session becomes valid even if a later step fails. A
   * login of the earlier user that is still verifying a password cannot open a session of the new user.
   */
  async create(given: UserToCreate | null, skipPolicy: boolean, op: Operation): Promise<CreatedUser> {
    const { username, password, properties, realm } = (given ?? {}) as UserToCreate;
    const named = { username, ...(properties ? { properties } : {}), ...this.validRealm(realm) };
    const names = this.validNamesOf(named);
    if (password !== null && !skipPolicy) await this.passwords.assertAllowed(password, 'password', names);
    const { network } = op.client;
    const passwordHash = password === null ? null : await this.passwords.hash(password, 'password', network);
    const user = { ...named, passwordHash };
    const naturalId = this.users.naturalIdOf(user);
    if (naturalId !== null) {
      for (const name of names)
        if (await this.users.isNameTaken(name, null, op.tx)) throw standardError('username_taken');
      await this.forget(naturalId, op);
    }
    const created = await this.users.create(user, op.tx);
    if (!created) throw standardError('username_taken');
    const id = String(created.id);
    if (!this.users.hasUniqueIds) {
      if (naturalId === null) await this.forget(id, op);
      await this.removeAccess(id, op);
    }
    return { id: created.id, username: created.username };
  }

  async disable(userId: UserId, op: Operation): Promise<void> {
    this.assertCanSetActive();
    const user = await this.users.findById(userId, op.tx);
    // A `UserStore` takes part in no transaction, so the user is disabled first. If ending the sessions fails, the
    // guard refuses these sessions.
    if (!user || !(this.users.setActiveStep || (await this.users.setActive(user.id, false, op.tx))))
      throw unknownUser();
    const ended = await this.events.revoke(op.tx, (write) => this.disableAndEnd(user.id, op.client, write));
    if (!ended) throw unknownUser();
    this.endSessions.publish(ended, op.tx);
    this.endSessions.publishKeys(op.tx, String(user.id));
  }

  async enable(userId: UserId, op: Operation): Promise<void> {
    this.assertCanSetActive();
    const user = await this.users.findById(userId, op.tx);
    if (!user) throw unknownUser();
    const { lock } = this;
    // The application may have disabled the user in its own table, which did not end any session, key or token.
    if (!user.active) await this.endSessions.endForInactiveAccount(String(user.id), 'disabled', op);
    await this.database.transaction(op.tx, function* () {
      yield* lock.lock(String(user.id));
      yield* lock.revokeCredentials(String(user.id));
    });
    if (!(await this.users.setActive(user.id, true, op.tx))) throw unknownUser();
  }

  async resetFailedLogins(username: string, op: Operation): Promise<void> {
    await this.throttle.reset(username, await this.users.findByName(username, op.client.realm, op.tx), op);
  }

  /**
   * Deletes what authenticates a user in one transaction, and the rest in batches, because a user may have more rows
   * than one transaction can delete in time. If the call fails, the rows of committed batches stay deleted.
   */
  async forget(userId: string, op: Operation): Promise<void> {
    await this.throttle.forget(userId, op.tx);
    await this.removeAccess(userId, op);
    // An impersonation that ends later would record an event of this user.
    const since = this.clock.now() - MAX_IMPERSONATION_SECONDS * 1000;
    for (const { extra } of (await this.database.run(op.tx, this.sql.impersonations.with({ userId, since }))).rows) {
      const { user_id: ofUser, session_id } = JSON.parse(String(extra)) as Record<string, string>;
      const command = { userId: ofUser!, sessionId: session_id!, reason: 'actor_session_ended' } as const;
      if (ofUser) await this.endSessions.end(command, { client: NO_CLIENT, tx: op.tx });
    }
    for (const batch of this.sql.removeBatch) {
      const removeBatch = (): Step<number> => affectedBy(batch.with({ userId }));
      while ((await this.database.transaction(op.tx, removeBatch)) === BATCH_SIZE) await nextTurn();
    }
    const { remove } = this.sql;
    await this.removeAccess(userId, op, function* () {
      for (const removal of remove) yield* affectedBy(removal.with({ userId }));
    });
  }

  async exportData(userId: string): Promise<ExportedUserData> {
    const { rows } = await this.database.run(null, this.sql.sessions.with({ userId }));
    const apiKeys = await this.keys.stored(userId);
    const events: AuthEventEntry[] = [];
    for (let before = Infinity; ;) {
      const page = await this.history.page(userId, before, BATCH_SIZE);
      events.push(...page);
      if (page.length < BATCH_SIZE) return { sessions: rows.map(exportedSession), apiKeys, events };
      before = page.at(-1)!.id;
    }
  }

  private validRealm(realm: string | undefined): Pick<NewUser, 'realm'> {
    if (this.options.realm) assertValidField('realm', usernameProblem(realm, REALM_LENGTH));
    else if (realm !== undefined) throw new Error('createUser() received a realm. Set the option realm too.');
    return realm === undefined ? {} : { realm };
  }

  private validNamesOf(user: Pick<NewUser, 'username' | 'properties'>): readonly string[] {
    const names = this.users.namesOf(user);
    for (const [field, name] of names) assertValidField(field, newUsernameProblem(name, USERNAME_LENGTH));
    return names.map(([, name]) => String(name));
  }

  private assertCanSetActive(): void {
    if (this.users.canSetActive) return;
    throw notSupported('Users cannot be enabled or disabled. Map `active` or `disabledAt`, or implement `setActive`.');
  }

  private *disableAndEnd(userId: UserId, client: Client, write: WriteEvents): Step<readonly EndedSession[] | null> {
    const id = String(userId);
    yield* this.lock.lock(id);
    if (this.users.setActiveStep && !(yield* this.users.setActiveStep(userId, false))) return null;
    return yield* this.endSessions.endAccess({ userId: id, reason: 'user_disabled' }, client, write);
  }

  /**
   * Removes the active sessions, the API keys, and what else `removeRest` removes: by default, tickets, reset tokens and
   * logins in progress. If another transaction ends a session first, runs again, so that each session ends only once.
   */
  private async removeAccess(
    userId: string,
    { tx }: Operation,
    removeRest = (): Step<void> => this.lock.revokeCredentials(userId),
  ): Promise<void> {
    const { endSessions, events, sql, clock } = this;
    const ended = await this.database.transaction(tx, function* () {
      const active = yield* endSessions.lockAllActive(userId);
      const now = clock.now();
      if (active.length > 0) yield* changeAll(sql.removeActive.with({ userId }), active.length);
      yield* affectedBy(sql.removeKeys.with({ userId }));
      yield* removeRest();
      const removed = active.map((session) => toEndedSession(session, now, 'user_deleted'));
      // The histories of administrators who act as the user stay.
      yield* events.write(endEvents(removed, NO_CLIENT, now).filter((event) => event.userId !== userId));
      return removed;
    });
    endSessions.publish(ended, tx);
    endSessions.publishKeys(tx, userId);
  }
}

function exportedSession(row: Row): ExportedSession {
  return {
    ...toSessionInfo(sessionFromRow(row), null),
    endedAt: row['ended_at'] == null ? null : new Date(Number(row['ended_at'])),
    endReason: (row['end_reason'] ?? null) as EndReason | null,
    data: JSON.parse((row['data'] ?? '{}') as string) as Partial<SessionData>,
  };
}
