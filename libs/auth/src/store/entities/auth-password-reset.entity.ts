import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID } from './columns';

/** A password reset token. The row is removed when the token is used. */
@Entity('auth_password_resets', COMPARED_BY_BYTES)
export class AuthPasswordReset {
  @PrimaryColumn(DIGEST) digest!: string;
  @Index() @Column({ ...USER_ID, name: 'user_id' }) userId!: string;
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
