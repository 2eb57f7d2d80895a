import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, UUID } from './columns';

/** A user, for applications without their own users. */
@Entity('auth_users', COMPARED_BY_BYTES)
export class AuthUser {
  @PrimaryColumn(UUID) id!: string;
  @Column({ type: 'varchar', length: 255 }) username!: string;

  /**
   * The SHA-256 digest, in hexadecimal, of the name or, with `nameMatching: 'insensitive'`, of
   * `foldName(name)`. Digests are compared exactly on every database.
   */
  @Index({ unique: true })
  @Exclude({ toPlainOnly: true })
  @Column({ ...DIGEST, name: 'username_key', select: false })
  usernameKey!: string;

  /** The hash is loaded only if a query selects this column, so that responses do not contain the hash. */
  @Exclude({ toPlainOnly: true })
  @Column({ type: 'varchar', length: 255, name: 'password_hash', nullable: true, select: false })
  passwordHash!: string | null;
  @Column({ type: Boolean }) active!: boolean;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;
}
