import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { type FormerToken, FormerTokens } from '../adapters/former-tokens';
import { isInRealm } from '../adapters/realm';
import type { TransportCall } from '../adapters/token-source';
import { Clock, OncePerMinute } from '../base/clock';
import { AuthError } from '../base/errors';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statements';
import { isOwnToken } from '../tokens/tokens';
import { Users } from '../users/users';
import { AuthenticatedExternal, type ExternalPrincipal } from './external-principal';

@Injectable()
export class AuthenticateFormerTokens {
  private readonly logger = new Logger('AuthTokens');
  private readonly logLimit: OncePerMinute;
  private readonly started = new WeakMap<object, Map<string, Promise<ExternalPrincipal | null>>>();
  private readonly readRevocation;

  constructor(
    @Optional() @Inject(FormerTokens) private readonly formerTokens: FormerTokens | null,
    private readonly users: Users,
    private readonly database: Database,
    statements: StatementFactory,
    clock: Clock,
  ) {
    this.logLimit = new OncePerMinute(clock);
    this.readRevocation = statements.statement(
      'SELECT {lock.loginsRevokedAt} AS revoked_at FROM {lock} WHERE {lock.userId} = :userId',
    );
  }

  /**
   * Returns null if the token, or its user, is not accepted.
   * @param realm the realm of the call, in the form of `Client.realm`
   */
  async authenticate(token: string, call: TransportCall, realm: string | null): Promise<ExternalPrincipal | null> {
    if (!this.formerTokens || isOwnToken(token)) return null;
    const start = () => this.authenticateOnce(token, call, realm);
    if (call.getType() !== 'graphql') return start();
    // All fields of an operation start together, however many aliases it has, and share argument 2, the context. A call
    // that starts later is verified again, since its token may have been revoked meanwhile.
    const context = Object(call.getArgByIndex(2) ?? call) as object;
    const started = this.started.get(context) ?? new Map<string, Promise<ExternalPrincipal | null>>();
    // The arguments of a field may determine its realm.
    const key = `${realm} ${token}`;
    const authentication = started.get(key) ?? start();
    this.started.set(context, started.set(key, authentication));
    const forget = (): void => void started.delete(key);
    authentication.then(forget, forget);
    setImmediate(forget);
    return authentication;
  }

  private async authenticateOnce(token: string, call: TransportCall, realm: string | null) {
    const found = await this.verify(token, call);
    if (!found) return null;
    const { issuedAt } = found;
    const userId = String(found.userId);
    const { rows } = await this.database.run(null, this.readRevocation.with({ userId }));
    if (issuedAt.getTime() < Number(rows[0]?.['revoked_at'] ?? 0)) return null;
    const { status, user } = await this.users.accountOf(userId);
    if (status !== 'active' || !isInRealm(user, realm)) return null;
    const [id, roles] = [this.users.parseId(userId), this.users.rolesOf(user)];
    const verifyAgain = (): Promise<ExternalPrincipal | null> => this.authenticate(token, call, realm);
    return new AuthenticatedExternal(id, { formerToken: { issuedAt } }, user, roles, realm, verifyAgain);
  }

  private async verify(token: string, call: TransportCall): Promise<FormerToken | null> {
    try {
      const found = await this.formerTokens!.verify(token, call);
      if (found === null || isFormerToken(found)) return found;
      throw new TypeError('verify() must return null or { userId: string, number or bigint, issuedAt: Date }');
    } catch (error) {
      if (error instanceof AuthError) throw error;
      this.logLimit.logError(this.logger, 'formerTokens failed, so the response is 401', error);
      return null;
    }
  }
}

function isFormerToken({ userId, issuedAt }: FormerToken): boolean {
  const isId = typeof userId === 'bigint' || Number.isFinite(userId) || (typeof userId === 'string' && userId !== '');
  return isId && issuedAt instanceof Date && !Number.isNaN(issuedAt.getTime());
}
