import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, UUID } from './columns';

/** A refresh token that is no longer live; kept as long as its session could be, so that a replay is recognised. */
@Entity('auth_refresh_tokens', COMPARED_BY_BYTES)
export class AuthRefreshToken {
  @PrimaryColumn(DIGEST)
  digest!: string;

  /** The session, and with it the family, that the token belongs to. */
  @Index()
  @Column({ ...UUID, name: 'session_id' })
  sessionId!: string;

  /** Its place in the family; the successor has the next higher one. */
  @Column({ type: 'integer' })
  generation!: number;

  /** `used`: exchanged for its successor. `revoked`: replaced otherwise; presenting it again is no reuse. */
  @Column({ type: 'varchar', length: 16 })
  state!: 'used' | 'revoked';

  @Column({ ...INSTANT, name: 'retired_at' })
  retiredAt!: number;

  /** The absolute end of its session, until which the row is kept. */
  @Index()
  @Column({ ...INSTANT, name: 'expires_at' })
  expiresAt!: number;
}
