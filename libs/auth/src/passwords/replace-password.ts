import { Inject, Injectable } from '@nestjs/common';
import { isInRealm } from '../adapters/realm';
import { loginNamesOf, type StoredUser, type UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, invalidAccessToken, notSupported, standardError, unknownUser } from '../base/errors';
import { passwordProblem } from '../base/fields';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { afterCommit } from '../database/joined-transaction';
import { columns, insertion, StatementFactory } from '../database/statements';
import { affectedBy, RolledBack, type Step, type Transaction } from '../database/transaction';
import { type Client, EventLog, newEvent, type Operation } from '../history/event-log';
import { Signals } from '../history/signals';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import type { AuthPrincipal } from '../sessions/authenticate';
import { EndSessions } from '../sessions/end-sessions';
import { OpenSockets } from '../sessions/open-sockets';
import { Reissue, type ReissuedSession } from '../sessions/rotate';
import { type EndedSession, toSessionInfo, UserLock } from '../sessions/session';
import { Throttle } from '../throttle/throttle';
import { isToken, type NewTokenFamily, TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { Users } from '../users/users';
import { InSession } from './in-session';
import { Passwords } from './passwords';

/** The current password and the new one. */
export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** A password reset token that the application sends to the user. The library stores only a digest of the token. */
export interface PasswordResetToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** What authorizes the replacement of a password: a verified password, a reset token, or the application itself. */
interface Authorization {
  /**
   * At a change, the session to keep, its new pair (null keeps the current one), and the verified hash. If another hash is
   * stored, the change fails.
   */
  readonly change?: {
    readonly sessionId: string;
    readonly issued: NewTokenFamily | null;
    readonly verifiedHash: string;
  };
  /** At a reset, the digest of the reset token to consume, if there is one. */
  readonly resetDigest?: string;
}

interface Replacement extends Authorization {
  readonly userId: UserId;
  readonly passwordHash: string;
  readonly client: Client;
  readonly now: number;
}

interface Outcome {
  /** False if the user, the verified hash, the reset token or the session to keep changed in the meantime. */
  readonly isSet: boolean;
  /** With a `UserStore`, the session may have ended before the password was set. */
  readonly kept: ReissuedSession | null;
  readonly ended: readonly EndedSession[];
  /** The failure of a later step, with a `UserStore` only. */
  readonly error?: Error | undefined;
}

/** With a `UserStore`, there is a part before the password is set, and one after it or after the failure of the store. */
interface Part {
  readonly isFirst: boolean;
  readonly isRecorded: boolean;
}

const REFUSED: Outcome = { isSet: false, kept: null, ended: [] };

/** A change and a reset of a password are the same transition with another authorization. */
@Injectable()
export class ReplacePassword {
  private readonly sql;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly passwords: Passwords,
    private readonly inSession: InSession,
    private readonly tokens: TokenIssuer,
    private readonly endSessions: EndSessions,
    private readonly reissue: Reissue,
    private readonly sockets: OpenSockets,
    private readonly throttle: Throttle,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {
    const realm = options.realm ? ' realm' : '';
    const withoutRealm = realm ? '' : 'AND {reset.realm} IS NULL';
    const presented = `{reset.digest} = :digest AND {reset.expiresAt} > :now ${withoutRealm}`;
    this.sql = {
      insert: statements.statement(insertion('reset', `digest userId expiresAt${realm}`)),
      readOwner: statements.statement(`SELECT ${columns('reset', `userId${realm}`)} FROM {reset} WHERE ${presented}`),
      consume: statements.statement(`DELETE FROM {reset} WHERE ${presented} AND {reset.userId} = :userId`),
    };
  }

  async change(
    principal: AuthPrincipal,
    change: PasswordChange | null,
    keepTokens: boolean,
    op: Operation,
  ): Promise<TokenPair | null> {
    const { currentPassword, newPassword } = (change ?? {}) as PasswordChange;
    assertValidField('current_password', passwordProblem(currentPassword));
    assertValidField('new_password', passwordProblem(newPassword));
    this.assertSupported();
    const { sessionId } = principal;
    const replace = async (user: StoredUser) => {
      const family = keepTokens ? null : this.tokens.issueFamily(sessionId);
      const authorized = { sessionId, issued: family && family.digests, verifiedHash: user.passwordHash! };
      const { kept } = await this.replace(user, newPassword, { change: authorized }, op);
      if (!kept) throw invalidAccessToken();
      return { pair: family && tokenPair(family.tokens, kept) };
    };
    const field = 'current_password';
    return (await this.inSession.withPassword(principal, currentPassword, field, op, replace)).pair;
  }

  async reset(userId: UserId, newPassword: string, op: Operation): Promise<void> {
    this.assertSupported();
    const user = await this.users.findById(userId, op.tx);
    if (!user || !(await this.replace(user, newPassword, {}, op)).isSet) throw unknownUser();
  }

  /** Issues a reset token, and revokes the previous one. (ASVS 6.4.3) */
  async createToken(userId: UserId, op: Operation): Promise<PasswordResetToken> {
    this.assertSupported();
    const version = await this.users.credentialsVersion(String(userId), op.tx);
    const user = await this.findActive(userId, op);
    if (!user) throw unknownUser();
    const { realm } = op.client;
    const now = this.clock.now();
    const { token, digest, expiresAt } = this.tokens.issueToken('password_reset', now);
    const id = String(user.id);
    const store = function* (this: ReplacePassword): Step<boolean> {
      // Without the lock, parallel calls would not see each other's tokens, and a user could have several.
      yield* this.lock.lock(id);
      if ((yield* this.lock.version(id)) !== version) return false;
      yield* this.lock.revokeResetTokens(id);
      yield* affectedBy(this.sql.insert.with({ digest, userId: id, expiresAt, realm }));
      yield* this.events.write([newEvent('password_reset_requested', id, op.client, now)]);
      return true;
    };
    const isStored = await this.database.transaction(op.tx, () => store.call(this));
    // If not, the version of the credentials has changed in the meantime, for example because the user was disabled.
    return isStored ? { token, expiresAt: new Date(expiresAt) } : this.createToken(userId, op);
  }

  async redeemToken(token: string, newPassword: string, op: Operation): Promise<void> {
    this.assertSupported();
    if (typeof token !== 'string' || !isToken('password_reset', token)) throw standardError('invalid_reset_token');
    const resetDigest = sha256(token);
    const owner = this.sql.readOwner.with({ digest: resetDigest, now: this.clock.now() });
    const [row] = (await this.database.run(op.tx, owner)).rows;
    if (!row || !isInRealm(row, op.client.realm)) throw standardError('invalid_reset_token');
    const user = await this.findActive(this.users.parseId(String(row['user_id'])), op);
    if (!user) throw standardError('invalid_reset_token');
    if (!(await this.replace(user, newPassword, { resetDigest }, op)).isSet) throw standardError('invalid_reset_token');
  }

  private assertSupported(): void {
    if (this.users.canSetPasswords) return;
    throw notSupported('The user store cannot set passwords. Implement its method `setPasswordHash`.');
  }

  /**
   * Returns the user, or null if the user is not active or belongs to another realm. The sessions and tokens of a user
   * whom the application has disabled in its own table must not become valid again when the user is enabled.
   */
  private async findActive(userId: UserId, op: Operation): Promise<StoredUser | null> {
    const user = await this.users.findById(userId, op.tx);
    if (!user || !isInRealm(user, op.client.realm)) return null;
    if (user.active) return user;
    await this.endSessions.endForInactiveAccount(String(user.id), 'disabled', op);
    return null;
  }

  /** Checks the new password against the policy, stores it, ends sessions as the options say, and emits the signals. */
  private async replace(
    user: StoredUser,
    newPassword: string,
    authorization: Authorization,
    { client, tx }: Operation,
  ): Promise<Pick<Outcome, 'isSet' | 'kept'>> {
    const { change } = authorization;
    await this.passwords.assertAllowed(newPassword, 'new_password', loginNamesOf(user));
    // A password change has already entered the queue to verify the current password.
    const passwordHash = await this.passwords.hash(newPassword, 'new_password', client.network, change !== undefined);
    const replacement = { ...authorization, userId: user.id, passwordHash, client, now: this.clock.now() };
    const outcome = this.users.setHashStep
      ? await this.database.transaction(tx, () => this.replaceAll(replacement))
      : await this.replaceExternally(replacement, tx);
    this.publish(user.id, outcome, change, tx);
    if (outcome.error) throw outcome.error;
    if (outcome.isSet && !change) await this.throttle.resetPassword(user.id, tx);
    return outcome;
  }

  /** Emits the signals, and closes the sockets that were opened with replaced tokens. */
  private publish(userId: UserId, outcome: Outcome, change: Authorization['change'], tx: Operation['tx']): void {
    const { isSet, kept, ended } = outcome;
    const keptId = change?.sessionId ?? null;
    this.endSessions.publish(ended, tx, keptId);
    // Also if a `UserStore` has failed, because the keys have ended before.
    if (this.endsKeys(change)) this.endSessions.publishKeys(tx, String(userId));
    if (kept && change?.issued) afterCommit(tx, () => this.sockets.closeForSessions([kept.session.id]));
    const session = kept && toSessionInfo(kept.session, keptId);
    if (isSet && change) this.signals.emit(tx, 'password_changed', { userId, session });
    if (isSet && !change) this.signals.emit(tx, 'password_reset', { userId });
  }

  private endsKeys(change: Authorization['change']): boolean {
    return !change || this.options.revokeApiKeysOnPasswordChange;
  }

  private *replaceAll(replacement: Replacement): Transaction<Outcome> {
    const { userId, passwordHash, change } = replacement;
    const outcome = yield* this.revoke(replacement, { isFirst: true, isRecorded: true });
    const isSet = outcome.isSet && (yield* this.users.setHashStep!(userId, passwordHash, change?.verifiedHash));
    return isSet ? outcome : new RolledBack(REFUSED);
  }

  /**
   * Replaces the password in a `UserStore`, which takes part in no transaction. Ends the sessions, except the one to
   * keep, before the password is set. If this first step fails, the old password remains. After the password is set,
   * sessions end again, because a login with the old password may have opened a session in between. They also end if the
   * store fails, because it may have set the password. If the password is refused or a later step fails, also tries to
   * end a session with a new pair, which the client does not receive.
   */
  private async replaceExternally(replacement: Replacement, tx: Operation['tx']): Promise<Outcome> {
    const { userId, passwordHash, change, client } = replacement;
    const revoke = (part: Part): Promise<Outcome> =>
      this.database.transaction(tx, () => this.revoke(replacement, part));
    const first = await revoke({ isFirst: true, isRecorded: false });
    if (!first.isSet) return first;
    let { ended } = first;
    let isSet = false;
    let error: Error | undefined;
    try {
      isSet = await this.users.setHash(userId, passwordHash, change?.verifiedHash);
      if (isSet) {
        const second = await revoke({ isFirst: false, isRecorded: true });
        return { ...second, ended: [...ended, ...second.ended] };
      }
    } catch (thrown) {
      error = thrown as Error;
      if (!isSet)
        ended = [...ended, ...(await revoke({ isFirst: false, isRecorded: false }).catch(() => REFUSED)).ended];
    }
    if (!change?.issued) return { isSet, kept: null, ended, error };
    const command = { userId: String(userId), sessionId: change.sessionId, reason: 'password_change' } as const;
    const kept = this.events.revoke(tx, (write) => this.endSessions.endAndRecord(command, client, write));
    return { isSet, kept: null, ended: [...ended, ...(await kept.catch(() => []))], error };
  }

  /**
   * Consumes the reset token or issues a new pair to the session to keep, revokes the credentials, and ends the sessions
   * and API keys that the options name. Refuses if the token is invalid or the session has ended.
   */
  private *revoke(replacement: Replacement, { isFirst, isRecorded }: Part): Step<Outcome> {
    const { change, resetDigest: digest, now } = replacement;
    const userId = String(replacement.userId);
    yield* this.lock.lock(userId);
    if (isFirst && digest !== undefined) {
      // Only one of several parallel calls deletes the row.
      if ((yield* affectedBy(this.sql.consume.with({ digest, userId, now }))) === 0) return REFUSED;
    }
    const kept = change ? yield* this.reissue.reissue(change.sessionId, change.issued, now) : null;
    if (isFirst && change && !kept) return REFUSED;
    yield* this.lock.revokeCredentials(userId);
    return { isSet: true, kept, ended: yield* this.endAccess(replacement, isRecorded) };
  }

  private *endAccess({ userId: id, change, client, now }: Replacement, isRecorded: boolean) {
    const userId = String(id);
    const reason = change ? 'password_change' : 'password_reset';
    const revokes = change ? this.options.revokeOnPasswordChange : this.options.revokeOnPasswordReset;
    const command = { userId, reason, ...(change ? { exceptId: change.sessionId } : {}) } as const;
    const write = this.events.write.bind(this.events);
    if (this.endsKeys(change)) yield* this.endSessions.endKeys(command, client, write);
    const ended = revokes ? yield* this.endSessions.endAndRecord(command, client, write) : [];
    if (isRecorded) yield* write([newEvent(reason, userId, client, now)]);
    return ended;
  }
}
