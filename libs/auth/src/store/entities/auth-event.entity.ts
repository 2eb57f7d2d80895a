import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { AuthEventName } from '../../domain/auth-event';
import { COMPARED_BY_BYTES, INSTANT, USER_ID } from './columns';

/** One line of the durable log. */
@Entity('auth_events', COMPARED_BY_BYTES)
@Index(['userId', 'occurredAt', 'id'])
@Index(['occurredAt'])
export class AuthEvent {
  /** Made by the library, rising with time: a generated 64-bit key is not to be had on SQLite. */
  @PrimaryColumn(INSTANT)
  id!: number;

  /** Null for a failed login with a name that nobody has. */
  @Column({ ...USER_ID, name: 'user_id', nullable: true })
  userId!: string | null;

  @Column({ type: 'varchar', length: 32 })
  event!: AuthEventName;

  @Column({ type: 'varchar', length: 45, name: 'ip_address', nullable: true })
  ipAddress!: string | null;

  @Column({ type: 'varchar', length: 500, name: 'user_agent' })
  userAgent!: string;

  @Column({ type: 'simple-json' })
  extra!: Record<string, unknown>;

  @Column({ ...INSTANT, name: 'occurred_at' })
  occurredAt!: number;
}
