import { Exclude } from 'class-transformer';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, UUID } from './columns';

/** A user, where the application has no table of users of its own. */
@Entity('auth_users', COMPARED_BY_BYTES)
export class AuthUser {
  @PrimaryColumn(UUID) id!: string;
  @Column({ type: 'varchar', length: 255 }) username!: string;

  /** The digest of the name in the form that names are compared in: exact and indexed, the same on every database. */
  @Index({ unique: true })
  @Exclude({ toPlainOnly: true })
  @Column({ ...DIGEST, name: 'username_key', select: false })
  usernameKey!: string;

  /** Never loaded unless it is asked for, never in a serialised response. */
  @Exclude({ toPlainOnly: true })
  @Column({ type: 'varchar', length: 255, name: 'password_hash', nullable: true, select: false })
  passwordHash!: string | null;
  @Column({ type: Boolean }) active!: boolean;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;
}
