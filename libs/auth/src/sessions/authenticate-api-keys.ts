import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../adapters/second-factor';
import type { RequestUser } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { invalidAccessToken, standardError } from '../base/errors';
import { InFlight } from '../base/in-flight';
import { sha256 } from '../base/random';
import { Metrics } from '../base/telemetry';
import { Database } from '../database/database';
import { LookupById } from '../database/lookup-by-id';
import { columns, StatementFactory } from '../database/statements';
import type { Row } from '../database/transaction';
import { idInToken } from '../tokens/tokens';
import { type AccountSql, Users } from '../users/users';
import { Authenticate } from './authenticate';
import { AuthenticatedExternal } from './external-principal';
import { accountFromRow } from './session';

/** What a guarded request reads of an API key. */
function foundFromRow(row: Row, users: AccountSql | null) {
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    realm: (row['realm'] ?? null) as string | null,
    name: String(row['name']),
    scopes: Object.freeze(JSON.parse(String(row['scopes'])) as string[]),
    digest: String(row['digest']),
    expiresAt: Number(row['expires_at'] ?? Infinity),
    lastUsedAt: Number(row['last_used_at'] ?? -Infinity),
    account: accountFromRow(row),
    readUser: (): RequestUser | null => users?.fromRow(row) ?? null,
  };
}

type FoundKey = ReturnType<typeof foundFromRow>;

/** The minimum time between two writes of the last use of a key. */
const USE_INTERVAL_MS = 3_600_000;

/** Authenticates API keys by a lookup in the database, so that a revocation takes effect at the next call. */
@Injectable()
export class AuthenticateApiKeys {
  private readonly loader: LookupById<FoundKey>;
  private readonly writeUse;
  private readonly uses = new InFlight<unknown>();

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly sessions: Authenticate,
    private readonly clock: Clock,
    private readonly metrics: Metrics,
  ) {
    const user = users.sql;
    // The alias `s` is that of the session whose user `user.columns` and `user.join` read.
    this.loader = new LookupById(
      database,
      statements,
      (condition) =>
        `SELECT ${columns('apiKey', 'id userId realm name scopes digest expiresAt lastUsedAt', 's.')},
           ${user?.columns ?? 'NULL AS account'}
         FROM {apiKey} s ${user?.join ?? ''} WHERE s.{apiKey.id} ${condition}`,
      (row) => foundFromRow(row, user),
    );
    this.writeUse = statements.statement('UPDATE {apiKey} SET {apiKey.lastUsedAt} = :now WHERE {apiKey.id} = :id');
  }

  /**
   * Returns the principal of a valid key of an active user.
   * @param scopes what the call requires. Null if the call does not accept keys
   * @param realm the realm of the call, in the form of `Client.realm`
   * @throws AuthError `access_token_invalid`, `api_key_not_allowed`, `insufficient_scope`
   */
  async authenticate(
    key: string,
    scopes: readonly string[] | null,
    info: ClientInfo,
    realm: string | null,
  ): Promise<AuthenticatedExternal> {
    const find = (): Promise<FoundKey | null> => this.find(key, info, realm);
    const found = await this.metrics.measure('session_auth.lookup.duration', find, (result) =>
      result ? undefined : { 'error.type': 'access_token_invalid' },
    );
    if (!found) throw invalidAccessToken();
    if (!scopes) throw standardError('api_key_not_allowed');
    if (!scopes.every((scope) => found.scopes.includes(scope))) throw standardError('insufficient_scope');
    const now = this.clock.now();
    const { id, name, lastUsedAt } = found;
    // In the background. A use that cannot be written is due again with the next call.
    const write = () => this.database.run(null, this.writeUse.with({ id, now })).catch(() => undefined);
    if (now - lastUsedAt >= USE_INTERVAL_MS) void this.uses.run(id, write);
    const apiKey = { id, name, scopes: found.scopes };
    const user = found.readUser();
    const [userId, roles] = [this.users.parseId(found.userId), this.users.rolesOf(user)];
    return new AuthenticatedExternal(userId, { apiKey }, user, roles, realm, () => this.find(key, {}, realm));
  }

  /** Returns a valid key, whose `readUser` returns the user. */
  private async find(key: string, info: ClientInfo, realm: string | null): Promise<FoundKey | null> {
    const id = idInToken('api_key', key);
    if (id === null) return null;
    const digest = sha256(key);
    const found = await this.loader.get(id);
    if (!found || digest !== found.digest || found.expiresAt <= this.clock.now()) return null;
    // Without the option, every key of a realm is invalid.
    const account = (found.realm ?? realm) === realm ? await this.sessions.accountInRealm(found, info, realm) : null;
    return account && { ...found, readUser: () => account.user };
  }
}
