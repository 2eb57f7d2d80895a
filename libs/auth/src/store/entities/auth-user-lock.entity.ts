import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, INSTANT, USER_ID } from './columns';

/**
 * The row that is locked by whatever opens a session of a user or ends several of them. Locking the sessions themselves
 * would miss one that is being opened at the same time.
 */
@Entity('auth_user_locks', COMPARED_BY_BYTES)
export class AuthUserLock {
  @PrimaryColumn({ ...USER_ID, name: 'user_id' }) userId!: string;

  /** Raised by each password change, so that a login that is verifying the old password is refused. */
  @Column({ type: 'integer', name: 'credentials_version' }) credentialsVersion!: number;

  /** How often the lock was taken again. */
  @Column({ ...INSTANT, name: 'lock_count' }) lockCount!: number;
}
