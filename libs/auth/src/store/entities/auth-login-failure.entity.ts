import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT } from './columns';

/** How many logins in a row have failed for one name from one network. */
@Entity('auth_login_failures', COMPARED_BY_BYTES)
export class AuthLoginFailure {
  /** The digest of name and network: neither can be read here. */
  @PrimaryColumn(DIGEST)
  key!: string;

  @Column({ type: 'integer', name: 'failure_count' })
  failureCount!: number;

  /** When the run of failures is forgotten. */
  @Index()
  @Column({ ...INSTANT, name: 'expires_at' })
  expiresAt!: number;
}
