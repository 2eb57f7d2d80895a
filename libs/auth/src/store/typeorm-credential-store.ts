import {
  CredentialStore,
  type FoundCredentials,
  type ReplaceOutcome,
  type ReplacePassword,
} from '../domain/ports/credential-store';
import type { EndedSession } from '../domain/session';
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

type Replaced = Extract<ReplaceOutcome, { kind: 'replaced' }>;

const REFUSED: ReplaceOutcome = { kind: 'refused', ended: [] };

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

  async find(username: string): Promise<FoundCredentials> {
    const { users } = this;
    const found = users instanceof EntityUserStore ? await users.findCredentials(username) : null;
    return found ?? this.findElsewhere(username);
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

  /** Looks the user up once more after the version was read: a password changed in between must not pass for the old. */
  private async findElsewhere(username: string): Promise<FoundCredentials> {
    const first = await this.users.findByUsername(username);
    const userId = first ? String(first.id) : '';
    const [row] = (await this.database.single(this.version.with({ userId }))).rows;
    const user = await this.users.findByUsername(username);
    return { user: user && String(user.id) === userId ? user : null, version: Number(row?.['version'] ?? 0) };
  }

  private *replaceInUnit(command: ReplacePassword, users: EntityUserStore): Unit<ReplaceOutcome> {
    yield* this.locks.lock(String(command.userId));
    if (!(yield* this.isAllowed(command))) return REFUSED;
    const set = yield* users.setHashInUnit(command.userId, command.passwordHash, command.expectedHash);
    if (!set) return REFUSED;
    return yield* this.endAndRefit(command, command.keep, true);
  }

  /**
   * The sessions end first: a failure in between leaves the old password, never a new one with old sessions alive. They
   * end once more afterwards, for a login with the old password that came in between.
   */
  private async replaceOutside(command: ReplacePassword): Promise<ReplaceOutcome> {
    const first = await this.database.atomic(() => this.endBefore(command));
    if (first.kind !== 'replaced') return first;
    let isSet = false;
    try {
      const { userId, passwordHash, expectedHash } = command;
      isSet = (await this.users.setPasswordHash?.(userId, passwordHash, expectedHash)) ?? false;
      if (!isSet) return { kind: 'refused', ended: [...first.ended, ...(await this.endKept(command))] };
      const second = await this.database.atomic(() => this.endAfter(command));
      return { ...second, ended: [...first.ended, ...second.ended] };
    } catch (error) {
      const ended = isSet ? [] : await this.endKept(command);
      return { kind: 'broken', isSet, ended: [...first.ended, ...ended], error };
    }
  }

  private *endBefore(command: ReplacePassword): Unit<ReplaceOutcome> {
    yield* this.locks.lock(String(command.userId));
    if (!(yield* this.isAllowed(command))) return REFUSED;
    return yield* this.endAndRefit(command, command.keep, false);
  }

  /** The password is set: what happened to the session to keep meanwhile does not undo that. */
  private *endAfter(command: ReplacePassword): Unit<Replaced> {
    yield* this.locks.lock(String(command.userId));
    const keep = (yield* this.isActive(command)) ? command.keep : null;
    return yield* this.endAndRefit(command, keep, true);
  }

  /** Nobody was given the pair that the session to keep has by now, and whether the password is set may be unknown. */
  private async endKept({ keep, ...at }: ReplacePassword): Promise<readonly EndedSession[]> {
    if (!keep) return [];
    const command = { ...at, userId: String(at.userId), sessionId: keep.sessionId, reason: 'password_change' } as const;
    return this.events.revoke((write) => this.ender.endAndTell(command, write)).catch(() => []);
  }

  /** By a token that is good, which is used up, and in a session that is live; where either is named. */
  private *isAllowed(command: ReplacePassword): Unit<boolean> {
    const { userId, resetDigest, now } = command;
    if (resetDigest !== null && !(yield* this.resets.use(resetDigest, String(userId), now))) return false;
    return command.keep === null || (yield* this.isActive(command));
  }

  private *isActive({ userId, keep }: ReplacePassword): Unit<boolean> {
    const active = yield* this.ender.lockActive(String(userId));
    return active.some((session) => session.id === keep?.sessionId);
  }

  private *endAndRefit(command: ReplacePassword, keep: ReplacePassword['keep'], tell: boolean): Unit<Replaced> {
    const userId = String(command.userId);
    const { client, now } = command;
    const isChange = command.keep !== null;
    const write = this.events.write.bind(this.events);
    yield* this.resets.remove(userId);
    yield* this.locks.raiseCredentialsVersion(userId);
    const kept = keep ? yield* this.refitter.refit(keep.sessionId, keep.issued, now) : null;
    const ending = { ...command, userId, reason: isChange ? 'password_change' : 'password_reset' } as const;
    const ended = command.revoke
      ? yield* this.ender.endAndTell(keep ? { ...ending, exceptId: keep.sessionId } : ending, write)
      : [];
    if (tell) yield* write([eventOf(isChange ? 'password_change' : 'password_reset', userId, client, now)]);
    return { kind: 'replaced', kept, ended };
  }
}
