import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { DeviceType } from '../../domain/device';
import type { EndReason, SessionState } from '../../domain/session';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID, UUID } from './columns';

/** One login on one client, with the digests of its live tokens. */
@Entity('auth_sessions', COMPARED_BY_BYTES)
@Index(['userId', 'state'])
@Index(['state', 'idleExpiresAt'])
@Index(['state', 'absoluteExpiresAt'])
export class AuthSession {
  @PrimaryColumn(UUID)
  id!: string;

  @Column({ ...USER_ID, name: 'user_id' })
  userId!: string;

  @Column({ type: 'varchar', length: 16 })
  state!: SessionState;

  @Column({ type: 'varchar', length: 32, name: 'end_reason', nullable: true })
  endReason!: EndReason | null;

  @Column({ ...INSTANT, name: 'ended_at', nullable: true })
  endedAt!: number | null;

  @Column({ type: 'varchar', length: 45, name: 'ip_address', nullable: true })
  ipAddress!: string | null;

  /** The address prefix, for telling a new network from a known one; empty where addresses are not tracked. */
  @Column({ type: 'varchar', length: 45 })
  network!: string;

  @Column({ type: 'varchar', length: 16, name: 'device_type' })
  deviceType!: DeviceType;

  @Column({ type: 'varchar', length: 64, name: 'os_family' })
  osFamily!: string;

  @Column({ type: 'varchar', length: 64, name: 'browser_family' })
  browserFamily!: string;

  @Column({ type: 'varchar', length: 64, name: 'device_name' })
  deviceName!: string;

  @Column({ ...INSTANT, name: 'created_at' })
  createdAt!: number;

  /** When its user last proved who they are: at the login, or since. */
  @Column({ ...INSTANT, name: 'authenticated_at' })
  authenticatedAt!: number;

  @Column({ ...INSTANT, name: 'last_activity' })
  lastActivity!: number;

  @Column({ ...INSTANT, name: 'idle_expires_at' })
  idleExpiresAt!: number;

  @Column({ ...INSTANT, name: 'absolute_expires_at' })
  absoluteExpiresAt!: number;

  @Index({ unique: true })
  @Column({ ...DIGEST, name: 'access_digest' })
  accessDigest!: string;

  @Column({ ...INSTANT, name: 'access_expires_at' })
  accessExpiresAt!: number;

  /** The one refresh token that can be used; those that were are in `auth_refresh_tokens`. */
  @Index({ unique: true })
  @Column({ ...DIGEST, name: 'refresh_digest' })
  refreshDigest!: string;

  @Column({ ...INSTANT, name: 'refresh_expires_at' })
  refreshExpiresAt!: number;

  /** How many refresh tokens this family has had before the live one. */
  @Column({ type: 'integer' })
  generation!: number;

  /** The pair that the last refresh gave, sealed under the token that it was given for; null without a grace period. */
  @Column({ type: 'text', name: 'sealed_answer', nullable: true })
  sealedAnswer!: string | null;

  /** The end of the grace period of that token. */
  @Index()
  @Column({ ...INSTANT, name: 'sealed_until', nullable: true })
  sealedUntil!: number | null;
}
