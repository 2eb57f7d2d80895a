import {
  CredentialStore,
  type FoundCredentials,
  type ReplaceOutcome,
  type ReplacePassword,
} from '../domain/ports/credential-store';
import type { NewUser, StoredUser, UserId, UserStore } from '../domain/ports/user-store';
import { AuthError } from '../domain/errors';
import type { AuthTables } from './auth-tables';
import { EntityUserStore } from './entity-user-store';
import { eventOf, type EventWriter } from './event-writer';
import type { PasswordResets } from './password-resets';
import type { SessionEnder } from './session-ender';
import type { SessionRefitter } from './session-refitter';
import type { Database } from './sql/database';
import type { Unit } from './sql/unit';
import type { UserLocks } from './user-locks';

/** Passwords, in step with the sessions that were opened with them. */
export class TypeOrmCredentialStore extends CredentialStore {
  private readonly version;

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly users: UserStore,
    private readonly locks: UserLocks,
    private readonly ender: SessionEnder,
    private readonly refitter: SessionRefitter,
    private readonly events: EventWriter,
    private readonly resets: PasswordResets,
  ) {
    super();
    this.version = tables.statement(
      'SELECT {lock.credentialsVersion} AS version FROM {lock} WHERE {lock.userId} = :userId',
    );
  }

  get canSetPasswords(): boolean {
    return typeof this.users.setPasswordHash === 'function';
  }

  /** Looks the user up once more after the version was read: a password changed in between must not pass for the old. */
  async find(username: string): Promise<FoundCredentials> {
    const first = await this.users.findByUsername(username);
    const userId = first ? String(first.id) : '';
    const [row] = (await this.database.single(this.version.with({ userId }))).rows;
    const user = await this.users.findByUsername(username);
    return { user: user && String(user.id) === userId ? user : null, version: Number(row?.['version'] ?? 0) };
  }

  async addReset(userId: UserId, digest: string, expiresAt: number): Promise<void> {
    await this.database.atomic(() => this.resets.replace(String(userId), digest, expiresAt));
  }

  async ownerOfReset(digest: string, now: number): Promise<string | null> {
    const [row] = (await this.database.single(this.resets.ownerOf(digest, now))).rows;
    return row ? String(row['user_id']) : null;
  }

  async create(user: NewUser): Promise<StoredUser | null> {
    if (!this.users.create) throw new AuthError('not_supported', 'The user store cannot create users.');
    return this.users.create(user);
  }

  async replace(command: ReplacePassword): Promise<ReplaceOutcome> {
    const { users } = this;
    if (users instanceof EntityUserStore) return this.database.atomic(() => this.replaceInUnit(command, users));
    return this.replaceOutside(command);
  }

  private *replaceInUnit(command: ReplacePassword, users: EntityUserStore): Unit<ReplaceOutcome> {
    yield* this.locks.lock(String(command.userId));
    if (!(yield* this.isAllowed(command))) return { kind: 'refused' };
    const set = yield* users.setHashInUnit(command.userId, command.passwordHash, command.expectedHash);
    if (!set) return { kind: 'refused' };
    return yield* this.endAndRefit(command, true);
  }

  /**
   * The sessions end first: a failure in between leaves the old password, never a new one with old sessions alive. They
   * end once more afterwards, for a login with the old password that came in between.
   */
  private async replaceOutside(command: ReplacePassword): Promise<ReplaceOutcome> {
    const first = await this.database.atomic(() => this.endOutside(command, false));
    if (first.kind === 'refused') return first;
    const set = await this.users.setPasswordHash?.(command.userId, command.passwordHash, command.expectedHash);
    if (!set) return { kind: 'refused' };
    const second = await this.database.atomic(() => this.endOutside({ ...command, resetDigest: null }, true));
    if (second.kind === 'refused') return second;
    return { ...second, ended: [...first.ended, ...second.ended] };
  }

  private *endOutside(command: ReplacePassword, tell: boolean): Unit<ReplaceOutcome> {
    yield* this.locks.lock(String(command.userId));
    if (!(yield* this.isAllowed(command))) return { kind: 'refused' };
    return yield* this.endAndRefit(command, tell);
  }

  /** By a token that is good, which is used up, and in a session that is live; where either is named. */
  private *isAllowed({ userId, keep, resetDigest, now }: ReplacePassword): Unit<boolean> {
    if (resetDigest !== null && !(yield* this.resets.use(resetDigest, String(userId), now))) return false;
    if (keep === null) return true;
    const active = yield* this.ender.lockActive(String(userId));
    return active.some((session) => session.id === keep.sessionId);
  }

  private *endAndRefit(command: ReplacePassword, tell: boolean): Unit<ReplaceOutcome> {
    const userId = String(command.userId);
    const { keep, client, now } = command;
    const write = this.events.write.bind(this.events);
    yield* this.resets.remove(userId);
    yield* this.locks.raiseCredentialsVersion(userId);
    const kept = keep ? yield* this.refitter.refit(keep.sessionId, keep.issued, now) : null;
    const ended = command.revoke
      ? yield* this.ender.endAndTell(
          {
            ...command,
            userId,
            reason: keep ? 'password_change' : 'password_reset',
            ...(keep ? { exceptId: keep.sessionId } : {}),
          },
          write,
        )
      : [];
    if (tell) yield* write([eventOf(keep ? 'password_change' : 'password_reset', userId, client, now)]);
    return { kind: 'replaced', kept, ended };
  }
}
