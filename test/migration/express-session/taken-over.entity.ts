import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A former session that has been taken over, or a user whose former sessions have all ended. */
@Entity('taken_over_sessions')
export class TakenOver {
  /** The SHA-256 digest of the former session's id, or of `user` and the user's id, in hexadecimal. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  digest!: string;

  /** Identifies the request that performs the takeover. */
  @Column({ type: 'varchar', length: 36 })
  claim!: string;

  @Column({ type: Date })
  claimedAt!: Date;

  /** The new session, encrypted. Null while it is being opened, and empty if the takeover was refused. */
  @Column({ type: 'varchar', length: 2048, nullable: true })
  opened!: string | null;
}
