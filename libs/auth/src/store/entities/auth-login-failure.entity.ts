import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT } from './columns';

/**
 * A failure streak: the number of consecutive failed logins by one method, for one user or one unknown
 * name. One row counts the failures from one network, and another row counts the failures from all
 * networks.
 */
@Entity('auth_login_failures', COMPARED_BY_BYTES)
export class AuthLoginFailure {
  /** The digest of the account, the method and, in the row of one network, the network. */
  @PrimaryColumn(DIGEST) key!: string;

  /** The digest of the user's id, or of an unknown name. All rows of an account have the same value. */
  @Index() @Column({ ...DIGEST, name: 'account_key' }) accountKey!: string;

  /** The method: `pwd`, or the method that was passed to `attempt`. */
  @Column({ type: 'varchar', length: 32 }) method!: string;
  @Column({ type: 'integer', name: 'failure_count' }) failureCount!: number;

  /** The number of attempts that are being verified. The number counts as zero after `pendingUntil`. */
  @Column({ type: 'integer' }) pending!: number;
  @Column({ ...INSTANT, name: 'pending_until' }) pendingUntil!: number;

  /** When the delay of the network, or the block of the account, ends. */
  @Column({ ...INSTANT, name: 'delayed_until' }) delayedUntil!: number;

  /** When the failure streak expires. */
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
