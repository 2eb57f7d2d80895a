import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, INSTANT, USER_ID } from './columns';

/**
 * The lock of a user. Except for pruning, every transaction that opens a session of the user, or
 * ends several sessions of the user, locks this row. Locking the sessions themselves would miss a
 * session that is being opened at the same time.
 */
@Entity('auth_user_locks', COMPARED_BY_BYTES)
export class AuthUserLock {
  @PrimaryColumn({ ...USER_ID, name: 'user_id' }) userId!: string;

  /**
   * The version of the credentials. Each password change increases it, so that a login that has verified
   * the old password is refused.
   */
  @Column({ type: 'integer', name: 'credentials_version' }) credentialsVersion!: number;

  /** How many times the lock was taken after its row was created. */
  @Column({ ...INSTANT, name: 'lock_count' }) lockCount!: number;
}
