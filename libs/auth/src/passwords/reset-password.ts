import { Injectable } from '@nestjs/common';
import type { StoredUser, UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { AuthError, unknownUser } from '../base/errors';
import { sha256 } from '../base/random';
import { Database } from '../database/database';
import { StatementFactory } from '../database/statements';
import { affectedBy, type Step } from '../database/transaction';
import type { Operation } from '../history/client';
import { EventLog, type NewAuthEvent, newEvent } from '../history/event-log';
import { EndSessions } from '../sessions/end-sessions';
import { isResetToken, TokenIssuer } from '../tokens/tokens';
import { UserLock } from '../users/user-lock';
import { Users } from '../users/users';
import { ReplacePassword } from './replace-password';

/** A reset token to be stored. */
interface NewResetToken {
  readonly digest: string;
  readonly userId: string;
  readonly expiresAt: number;
}

/** A password reset token that the application sends to the user. The library stores only a digest of the token. */
export interface PasswordResetToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Issues reset tokens. Sets passwords with a reset token, or for a user whom the application has identified. */
@Injectable()
export class ResetPassword {
  private readonly insert;
  private readonly readOwner;

  constructor(
    private readonly database: Database,
    statements: StatementFactory,
    private readonly users: Users,
    private readonly lock: UserLock,
    private readonly endSessions: EndSessions,
    private readonly events: EventLog,
    private readonly tokens: TokenIssuer,
    private readonly replacement: ReplacePassword,
    private readonly clock: Clock,
  ) {
    this.insert = statements.statement(
      'INSERT INTO {reset} ({reset.digest}, {reset.userId}, {reset.expiresAt}) VALUES (:digest, :userId, :expiresAt)',
    );
    this.readOwner = statements.statement(
      'SELECT {reset.userId} AS user_id FROM {reset} WHERE {reset.digest} = :digest AND {reset.expiresAt} > :now',
    );
  }

  /** Sets the password of a user. @throws AuthError `unknown_user`, and those of `ReplacePassword` */
  async reset(userId: UserId, newPassword: string, op: Operation): Promise<void> {
    this.replacement.assertSupported();
    const user = await this.users.findById(userId, op.tx);
    const authorization = { kind: 'reset', resetDigest: null } as const;
    const isRefused = !user || (await this.replacement.replace(user, newPassword, authorization, op)) === 'refused';
    if (isRefused) throw unknownUser();
  }

  /**
   * Issues a reset token. (ASVS 6.4.3)
   * @throws AuthError `not_supported`; `unknown_user` if the user does not exist or is not active
   */
  async createToken(userId: UserId, op: Operation): Promise<PasswordResetToken> {
    this.replacement.assertSupported();
    for (;;) {
      const version = await this.lock.versionOf(String(userId), op.tx);
      const user = await this.users.findById(userId, op.tx);
      if (user && !user.active) await this.revokeForDisabledUser(user, op);
      if (!user?.active) throw unknownUser();
      const now = this.clock.now();
      const { token, digest, expiresAt } = this.tokens.issueResetToken(now);
      const stored = { digest, expiresAt, userId: String(user.id) };
      const event = newEvent('password_reset_requested', stored.userId, op.client, now);
      if (await this.database.transaction(op.tx, () => this.store(stored, version, event)))
        return { token, expiresAt: new Date(expiresAt) };
      // The version of the credentials has changed in the meantime, for example because the user was disabled.
    }
  }

  /** Sets a new password with a reset token. If the password is refused, the token stays valid. */
  async redeemToken(token: string, newPassword: string, op: Operation): Promise<void> {
    this.replacement.assertSupported();
    if (typeof token !== 'string' || !isResetToken(token)) throw invalidResetToken();
    const resetDigest = sha256(token);
    const owner = this.readOwner.with({ digest: resetDigest, now: this.clock.now() });
    const [row] = (await this.database.run(op.tx, owner)).rows;
    const user = row ? await this.users.findById(this.users.parseId(String(row['user_id'])), op.tx) : null;
    if (user && !user.active) await this.revokeForDisabledUser(user, op);
    if (!user?.active) throw invalidResetToken();
    const authorization = { kind: 'reset', resetDigest } as const;
    if ((await this.replacement.replace(user, newPassword, authorization, op)) === 'refused') throw invalidResetToken();
  }

  /**
   * Stores a reset token and revokes the previous one, because a user has at most one. Returns false if the version of
   * the credentials has changed.
   */
  private *store(token: NewResetToken, version: number, event: NewAuthEvent): Step<boolean> {
    const { userId } = token;
    // Without the lock, parallel calls would not see each other's tokens, and several tokens could remain.
    yield* this.lock.lock(userId);
    if ((yield* this.lock.version(userId)) !== version) return false;
    yield* this.lock.revokeResetTokens(userId);
    yield* affectedBy(this.insert.with({ ...token }));
    yield* this.events.write([event]);
    return true;
  }

  /**
   * Ends the sessions and revokes the tokens of a user whom the application has disabled in its own table. Otherwise
   * the sessions and tokens would become valid again when the application enables the user.
   */
  private revokeForDisabledUser({ id }: StoredUser, op: Operation): Promise<void> {
    return this.endSessions.endForInactiveAccount(String(id), 'disabled', op);
  }
}

function invalidResetToken(): AuthError {
  return new AuthError('invalid_reset_token', 'Invalid or expired token.');
}
