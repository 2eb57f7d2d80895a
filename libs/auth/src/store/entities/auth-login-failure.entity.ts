import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT } from './columns';

/**
 * How many logins in a row have failed by one method for one user, or for one name that no user has: from one network in
 * one row, and from anywhere in another.
 */
@Entity('auth_login_failures', COMPARED_BY_BYTES)
export class AuthLoginFailure {
  /** The digest of account and network, or of the account alone: neither can be read here. */
  @PrimaryColumn(DIGEST) key!: string;

  /** The digest of the user's id, or of the name if nobody has it. All rows of the account are found by it. */
  @Index() @Column({ ...DIGEST, name: 'account_key' }) accountKey!: string;

  /** What failed: `pwd`, or the method that was given to `attempt`. */
  @Column({ type: 'varchar', length: 32 }) method!: string;
  @Column({ type: 'integer', name: 'failure_count' }) failureCount!: number;

  /** Attempts that are being verified, until they are taken for lost. */
  @Column({ type: 'integer' }) pending!: number;
  @Column({ ...INSTANT, name: 'pending_until' }) pendingUntil!: number;

  /** Until then there is no attempt. */
  @Column({ ...INSTANT, name: 'delayed_until' }) delayedUntil!: number;

  /** When the failure streak is forgotten. */
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
