import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { METHODS_LENGTH } from '../../domain/proofs';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID } from './columns';

/** A login ticket. The row is removed when a session is opened with the ticket. */
@Entity('auth_login_tickets', COMPARED_BY_BYTES)
export class AuthLoginTicket {
  @PrimaryColumn(DIGEST) digest!: string;
  @Index() @Column({ ...USER_ID, name: 'user_id' }) userId!: string;

  /** The version of the user's credentials when the user was identified. A password change revokes the ticket. */
  @Column({ type: 'integer', name: 'credentials_version' }) credentialsVersion!: number;

  /** The same format as in `AuthSession`. */
  @Column({ type: 'varchar', length: METHODS_LENGTH }) methods!: string;
  @Column({ type: 'text', nullable: true }) data!: string | null;

  /** Incremented by each attempt, and decremented again if the attempt succeeds. */
  @Column({ type: 'integer', name: 'failure_count' }) failureCount!: number;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
