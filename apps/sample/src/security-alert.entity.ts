import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A security alert about a reused refresh token. It is stored in the database so that every instance can return it. */
@Entity('security_alerts')
export class SecurityAlert {
  @PrimaryGeneratedColumn()
  id!: number;

  @Index()
  @Column({ type: 'integer', name: 'user_id' })
  userId!: number;

  /** The time of detection, in ISO 8601, in UTC. */
  @Column({ type: 'varchar', length: 24 })
  at!: string;

  @Column({ type: 'varchar', length: 45, name: 'ip_address', nullable: true })
  ipAddress!: string | null;

  @Column({ type: 'varchar', length: 36, name: 'session_id' })
  sessionId!: string;

  @Column({ type: 'integer', name: 'sessions_ended' })
  sessionsEnded!: number;
}
