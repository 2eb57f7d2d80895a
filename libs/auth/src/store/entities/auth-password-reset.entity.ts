import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID } from './columns';

/** A token that lets its holder set a new password, once; removed when it is used. */
@Entity('auth_password_resets', COMPARED_BY_BYTES)
export class AuthPasswordReset {
  @PrimaryColumn(DIGEST) digest!: string;
  @Index() @Column({ ...USER_ID, name: 'user_id' }) userId!: string;
  @Index() @Column({ ...INSTANT, name: 'expires_at' }) expiresAt!: number;
}
