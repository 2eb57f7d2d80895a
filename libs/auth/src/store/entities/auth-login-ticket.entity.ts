import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { METHODS_LENGTH } from '../../domain/proofs';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID } from './columns';

/** The first step of a login, until a session is opened with it; removed then. */
@Entity('auth_login_tickets', COMPARED_BY_BYTES)
export class AuthLoginTicket {
  @PrimaryColumn(DIGEST) digest!: string;
  @Index() @Column({ ...USER_ID, name: 'user_id' }) userId!: string;

  /** That of the user's lock when the user was identified: a password change ends the ticket. */
  @Column({ type: 'integer', name: 'credentials_version' }) credentialsVersion!: number;

  /** As in `AuthSession`. */
  @Column({ type: 'varchar', length: METHODS_LENGTH }) methods!: string;
  @Column({ type: 'text', nullable: true }) data!: string | null;

  /** Failed attempts, and those that are being checked. */
  @Column({ type: 'integer', name: 'failure_count' }) failureCount!: number;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
