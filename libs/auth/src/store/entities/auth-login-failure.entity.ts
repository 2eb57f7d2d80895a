import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT } from './columns';

/** How many logins in a row have failed for one name: from one network in one row, and from anywhere in another. */
@Entity('auth_login_failures', COMPARED_BY_BYTES)
export class AuthLoginFailure {
  /** The digest of name and network, or of the name alone: neither can be read here. */
  @PrimaryColumn(DIGEST) key!: string;

  /** The digest of the name, by which all of its rows are found. */
  @Index() @Column({ ...DIGEST, name: 'name_key' }) nameKey!: string;
  @Column({ type: 'integer', name: 'failure_count' }) failureCount!: number;

  /** Attempts that are being verified, until they are taken for lost. */
  @Column({ type: 'integer' }) pending!: number;
  @Column({ ...INSTANT, name: 'pending_until' }) pendingUntil!: number;

  /** Until then there is no attempt. */
  @Column({ ...INSTANT, name: 'delayed_until' }) delayedUntil!: number;

  /** When the failure streak is forgotten. */
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
