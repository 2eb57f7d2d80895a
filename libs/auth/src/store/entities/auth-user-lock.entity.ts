import { Column, Entity, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, INSTANT, USER_ID } from './columns';

/**
 * The lock of a user. Transactions that open a session of the user lock this row, and so do most
 * transactions that end several sessions of the user. Locking the sessions themselves would miss a
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
