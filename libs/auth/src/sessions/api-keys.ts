import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, invalidAccessToken, standardError } from '../base/errors';
import { actorOf, asciiJson, usernameProblem } from '../base/fields';
import { Database } from '../database/database';
import { columns, insertion, StatementFactory } from '../database/statements';
import { affectedBy, firstOf, type Row, type Step } from '../database/transaction';
import { ClientInspector, EventLog, newEvent } from '../history/event-log';
import { TokenIssuer } from '../tokens/tokens';
import { Users } from '../users/users';
import { assertNotImpersonating, type AuthPrincipal, currentSessionOf } from './authenticate';
import { AuthenticateApiKeys } from './authenticate-api-keys';
import { EndSessions } from './end-sessions';
import type { ExternalPrincipal } from './external-principal';
import { OwnSessions } from './own-sessions';
import { SessionSql, UserLock } from './session';

/** What a new API key is for. */
export interface NewApiKey {
  /** 1 to 100 characters without control characters, for the user's list of keys. */
  readonly name: string;
  /** 1 to 50 names, such as `orders:read`. A name has 1 to 64 letters, digits, and `:`, `.`, `_`, `/` and `-`. */
  readonly scopes: readonly string[];
  /** When the key expires. Default: never. */
  readonly expiresAt?: Date | null | undefined;
}

/** An API key, without its secret. */
export interface ApiKeyInfo extends Required<Pick<NewApiKey, 'name' | 'scopes'>> {
  /** A UUID. */
  readonly id: string;
  readonly createdAt: Date;
  /** Null if the key does not expire. */
  readonly expiresAt: Date | null;
  /** The last use, which is stored at most once an hour. Null if the key was never used. */
  readonly lastUsedAt: Date | null;
}

/** A new API key. */
export interface CreatedApiKey extends ApiKeyInfo {
  /** The key itself. It is returned only once, because the library stores only its digest. */
  readonly key: string;
}

const MAX_KEYS = 100;
const MAX_SCOPES = 50;
const SCOPE = /^[a-z0-9:._/-]{1,64}$/i;

/** How recent the login of a user must be who creates a key. */
const RECENT_LOGIN_SECONDS = 600;

/**
 * Creates, lists and revokes API keys, with which scripts call the routes that have `@AllowApiKey()`. A key ends when it
 * expires or is revoked, when its user is disabled or deleted, with a password reset, with the reuse of a refresh token,
 * and with a password change if `revokeApiKeysOnPasswordChange` is set.
 */
@Injectable()
export class ApiKeys {
  private readonly sql;

  /** @internal */
  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    sessionSql: SessionSql,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly sessions: OwnSessions,
    private readonly endSessions: EndSessions,
    private readonly authentication: AuthenticateApiKeys,
    private readonly tokens: TokenIssuer,
    private readonly events: EventLog,
    private readonly clients: ClientInspector,
    private readonly clock: Clock,
  ) {
    const ofUser = 'FROM {apiKey} WHERE {apiKey.userId} = :userId';
    this.sql = {
      session: sessionSql.select(
        `WHERE s.{session.id} = :id AND s.{session.accessDigest} = :accessDigest AND s.{session.state} = 'active'
           AND ${sessionSql.expiresAt} > :now`,
        '1 AS live',
      ),
      ofUser: statements.statement(
        `SELECT ${columns('apiKey', 'id name scopes createdAt expiresAt lastUsedAt')} ${ofUser}
         ORDER BY {apiKey.createdAt} DESC, {apiKey.id} DESC`,
      ),
      removeExpired: statements.statement(`DELETE ${ofUser} AND {apiKey.expiresAt} <= :now`),
      count: statements.statement(`SELECT COUNT(*) AS total ${ofUser}`),
      insert: statements.statement(insertion('apiKey', 'id userId realm name scopes digest createdAt expiresAt')),
    };
  }

  /**
   * Creates a key for the principal's user, who must have logged in or confirmed their identity within the last 10 minutes.
   * @throws AuthError `recent_login_required`, `session_required`, `access_token_invalid`; `api_key_limit_reached` if the
   *   user has 100 keys; `invalid_field` on `name`, `scopes` or `expires_at`
   */
  async create(principal: AuthPrincipal, key: NewApiKey, client: ClientInfo = {}): Promise<CreatedApiKey> {
    const current = currentSessionOf(principal);
    this.sessions.assertRecentLogin(principal, RECENT_LOGIN_SECONDS);
    const { sql, clock } = this;
    const assertLive = function* (): Step<true> {
      if (!(yield* firstOf(sql.session.with({ ...current, now: clock.now() })))) throw invalidAccessToken();
      return true;
    };
    return (await this.store(current.userId, principal.realm, key, client, {}, assertLive))!;
  }

  /** @internal See `SessionAdministration.createApiKey`. */
  async createFor(
    userId: UserId,
    key: NewApiKey,
    administrator: { readonly actor: string; readonly client?: ClientInfo },
  ): Promise<CreatedApiKey> {
    const actor = actorOf(administrator.actor);
    const { user, credentialsVersion } = await this.users.findActive(userId, null);
    const id = String(user.id);
    const { lock } = this;
    const isUnchanged = function* (): Step<boolean> {
      return (yield* lock.version(id)) === credentialsVersion;
    };
    const created = await this.store(id, this.clients.realmIn(user), key, administrator.client, { actor }, isUnchanged);
    // If nothing was stored, the user may have been disabled in the meantime.
    return created ?? this.createFor(userId, key, administrator);
  }

  /** Returns the keys of a user that have not expired, newest first. */
  async list(user: { readonly userId: UserId } | UserId): Promise<ApiKeyInfo[]> {
    const now = this.clock.now();
    return (await this.stored(userIdOf(user))).filter(({ expiresAt }) => !expiresAt || expiresAt.getTime() > now);
  }

  /** @internal Also returns the expired keys. */
  async stored(userId: string): Promise<ApiKeyInfo[]> {
    return (await this.database.run(null, this.sql.ofUser.with({ userId }))).rows.map(infoFromRow);
  }

  /**
   * Revokes a key of a user.
   * @param options `actor`: the administrator's name or id, 1 to 255 characters, for the history. Default: the user
   * @throws AuthError `api_key_not_found` if the user has no such key; `invalid_field` on `actor`;
   *   `not_allowed_while_impersonating` if `user` is the principal of an administrator who acts as the user
   */
  async revoke(
    user: { readonly userId: UserId } | UserId,
    id: string,
    client: ClientInfo = {},
    { actor }: { readonly actor?: string } = {},
  ): Promise<void> {
    assertNotImpersonating(Object(user) as Partial<AuthPrincipal>);
    const by = actor === undefined ? { reason: 'user' as const } : { reason: 'admin' as const, actor: actorOf(actor) };
    const command = { ...by, userId: userIdOf(user), keyId: String(id).toLowerCase() };
    const from = this.clients.inspect(client);
    const ended = await this.events.revoke(null, (write) => this.endSessions.endKeys(command, from, write));
    if (ended === 0) throw standardError('api_key_not_found');
    this.endSessions.publishKeys(null, command.userId, command.keyId);
  }

  /**
   * Authenticates a key that no guard has authenticated, such as that of a WebSocket's handshake. `OpenSockets.register`
   * accepts the result.
   * @param scopes the scopes that the key must have, at least one
   * @throws AuthError `access_token_invalid`, `insufficient_scope`; Error if the scopes are invalid
   */
  async authenticate(key: string, scopes: readonly string[], client: ClientInfo = {}): Promise<ExternalPrincipal> {
    assertScopes(scopes);
    return this.authentication.authenticate(key, scopes, client, this.clients.realmIn(client));
  }

  /** Stores a key under the user's lock. Returns null if `check` returns false. */
  private async store(
    userId: string,
    realm: string | null,
    given: NewApiKey | null,
    client: ClientInfo = {},
    by: { readonly actor?: string },
    check: () => Step<boolean>,
  ): Promise<CreatedApiKey | null> {
    const now = this.clock.now();
    const { name, scopes, expiresAt } = checkedKey(given, now);
    const { id, key, digest } = this.tokens.issueApiKey();
    const row = { id, name, scopes: asciiJson(scopes), created_at: now, expires_at: expiresAt };
    const extra = { key_id: id, name, scopes, ...by };
    const event = newEvent('api_key_created', userId, this.clients.inspect(client), now, extra);
    const store = function* (this: ApiKeys): Step<boolean> {
      yield* this.lock.lock(userId);
      if (!(yield* check())) return false;
      yield* affectedBy(this.sql.removeExpired.with({ userId, now }));
      const count = yield* firstOf(this.sql.count.with({ userId }));
      if (Number(count?.['total']) >= MAX_KEYS) throw standardError('api_key_limit_reached');
      const values = { ...row, userId, realm, digest, createdAt: now, expiresAt, name: this.database.storable(name) };
      yield* affectedBy(this.sql.insert.with(values));
      yield* this.events.write([event]);
      return true;
    };
    const isStored = await this.database.transaction(null, () => store.call(this));
    return isStored ? { ...infoFromRow(row), key } : null;
  }
}

function userIdOf(user: { readonly userId: UserId } | UserId): string {
  return String(typeof user === 'object' ? user.userId : user);
}

function infoFromRow(row: Row): ApiKeyInfo {
  const dateOf = (value: unknown): Date | null => (value == null ? null : new Date(Number(value)));
  return {
    id: String(row['id']),
    name: String(row['name']),
    scopes: JSON.parse(String(row['scopes'])) as string[],
    createdAt: new Date(Number(row['created_at'])),
    expiresAt: dateOf(row['expires_at']),
    lastUsedAt: dateOf(row['last_used_at']),
  };
}

function checkedKey(given: NewApiKey | null, now: number) {
  const { name, scopes, expiresAt = null } = (given ?? {}) as NewApiKey;
  const hasControls = (): boolean => /\p{Cc}/u.test(name);
  assertValidField('name', usernameProblem(name, 100) ?? (hasControls() ? 'No control characters are allowed.' : null));
  assertValidField('scopes', scopesProblem(scopes));
  const time = expiresAt instanceof Date ? expiresAt.getTime() : NaN;
  assertValidField('expires_at', expiresAt === null || time > now ? null : 'Not a date in the future.');
  return { name, scopes: [...new Set(scopes)], expiresAt: expiresAt && time };
}

function scopesProblem(scopes: readonly string[]): string | null {
  const isList = Array.isArray(scopes) && scopes.length > 0 && scopes.length <= MAX_SCOPES;
  if (isList && scopes.every((scope) => typeof scope === 'string' && SCOPE.test(scope))) return null;
  return `Must be a list of 1 to ${MAX_SCOPES} names, such as "orders:read": 1 to 64 of letters, digits and : . _ / -`;
}

/** @throws Error if the scopes that code requires are invalid */
export function assertScopes(scopes: readonly string[]): void {
  const problem = scopesProblem(scopes);
  if (problem) throw new Error(`The scopes of an API key are ${JSON.stringify(scopes)}. ${problem}`);
}
