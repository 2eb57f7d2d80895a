import type { AuthTables } from './auth-tables';
import type { Query } from './sql/unit';
import { affectedBy, type Unit } from './sql/unit';

/** The tokens for new passwords: one for each user, good once. */
export class PasswordResets {
  private readonly insert;
  private readonly owner;
  private readonly consume;
  private readonly removeAll;

  constructor(tables: AuthTables) {
    this.insert = tables.statement(
      'INSERT INTO {reset} ({reset.digest}, {reset.userId}, {reset.expiresAt}) VALUES (:digest, :userId, :expiresAt)',
    );
    this.owner = tables.statement(
      'SELECT {reset.userId} AS user_id FROM {reset} WHERE {reset.digest} = :digest AND {reset.expiresAt} > :now',
    );
    this.consume = tables.statement(
      `DELETE FROM {reset} WHERE {reset.digest} = :digest AND {reset.userId} = :userId AND {reset.expiresAt} > :now`,
    );
    this.removeAll = tables.statement('DELETE FROM {reset} WHERE {reset.userId} = :userId');
  }

  *replace(userId: string, digest: string, expiresAt: number): Unit<void> {
    yield* this.remove(userId);
    yield* affectedBy(this.insert.with({ digest, userId, expiresAt }));
  }

  ownerOf(digest: string, now: number): Query {
    return this.owner.with({ digest, now });
  }

  /** Of any number of parallel uses one finds the token. */
  *use(digest: string, userId: string, now: number): Unit<boolean> {
    return (yield* affectedBy(this.consume.with({ digest, userId, now }))) === 1;
  }

  *remove(userId: string): Unit<void> {
    yield* affectedBy(this.removeAll.with({ userId }));
  }
}
