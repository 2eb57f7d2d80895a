import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { DeviceType } from '../../domain/device';
import { METHODS_LENGTH } from '../../domain/proofs';
import type { TokenTransport } from '../../domain/refresh-decision';
import type { EndReason, SessionState } from '../../domain/session';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID, UUID } from './columns';

/**
 * One login on one client, with the digests of its live tokens.
 *
 * A refresh and an activity write change no indexed column, so that PostgreSQL can update the row in place (HOT).
 */
@Entity('auth_sessions', COMPARED_BY_BYTES)
@Index(['userId', 'state'])
@Index(['userId', 'loginNetwork'])
export class AuthSession {
  /** Part of every token of the session, which is found by it. */
  @PrimaryColumn(UUID) id!: string;
  @Column({ ...USER_ID, name: 'user_id' }) userId!: string;
  @Column({ type: 'varchar', length: 16 }) state!: SessionState;
  @Column({ type: 'varchar', length: 32, name: 'end_reason', nullable: true }) endReason!: EndReason | null;
  @Column({ ...INSTANT, name: 'ended_at', nullable: true }) endedAt!: number | null;

  /** When pruning looks at the row: an active session may have expired by then, an ended one may be removed. */
  @Index() @Column({ ...INSTANT, name: 'check_at' }) checkAt!: number;
  @Column({ type: 'varchar', length: 45, name: 'ip_address', nullable: true }) ipAddress!: string | null;

  /** The address prefix of the login; empty where addresses are not tracked. */
  @Column({ type: 'varchar', length: 45, name: 'login_network' }) loginNetwork!: string;
  @Column({ type: 'varchar', length: 16, name: 'device_type' }) deviceType!: DeviceType;
  @Column({ type: 'varchar', length: 64, name: 'os_family' }) osFamily!: string;
  @Column({ type: 'varchar', length: 64, name: 'browser_family' }) browserFamily!: string;
  @Column({ type: 'varchar', length: 64, name: 'device_name' }) deviceName!: string;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;

  /** When the user last proved their identity: at the login, or since. */
  @Column({ ...INSTANT, name: 'authenticated_at' }) authenticatedAt!: number;
  @Column({ ...INSTANT, name: 'last_activity' }) lastActivity!: number;
  @Column({ ...INSTANT, name: 'idle_expires_at' }) idleExpiresAt!: number;
  @Column({ ...INSTANT, name: 'absolute_expires_at' }) absoluteExpiresAt!: number;

  /** The digest of the live access token. */
  @Column({ ...DIGEST, name: 'access_digest' }) accessDigest!: string;
  @Column({ ...INSTANT, name: 'access_expires_at' }) accessExpiresAt!: number;

  /** The digest of the live refresh token: the only one that a refresh accepts. */
  @Column({ ...DIGEST, name: 'refresh_digest' }) refreshDigest!: string;
  @Column({ ...INSTANT, name: 'refresh_expires_at' }) refreshExpiresAt!: number;

  /** The digest of the secret that all refresh tokens of the live family contain. */
  @Column({ ...DIGEST, name: 'family_digest' }) familyDigest!: string;

  /** The generation of the live refresh token; tokens of the family with a lower one have been used. */
  @Column(INSTANT) generation!: number;

  /** When the live pair was issued by a refresh; null before the first one. */
  @Column({ ...INSTANT, name: 'refreshed_at', nullable: true }) refreshedAt!: number | null;

  /** The address prefix of the last refresh, before it of the login; null where addresses are not tracked. */
  @Column({ type: 'varchar', length: 45, name: 'last_network', nullable: true }) lastNetwork!: string | null;

  /**
   * With the previous refresh token, what the live pair is derived from again within the grace period. Null without one:
   * then the tokens are random.
   */
  @Column({ type: 'varchar', length: 22, name: 'replay_seed', nullable: true }) replaySeed!: string | null;
  @Column({ ...INSTANT, name: 'replay_until', nullable: true }) replayUntil!: number | null;
  @Column({ type: 'varchar', length: 8, name: 'replay_transport', nullable: true })
  replayTransport!: TokenTransport | null;

  /** The digest of the previous refresh token together with the network that the live pair was issued to. */
  @Column({ type: 'varchar', length: 43, name: 'replay_network_digest', nullable: true })
  replayNetworkDigest!: string | null;
  @Column({ type: 'integer', name: 'replay_count' }) replayCount!: number;

  /** When the live access token first authenticated a request; stored within the grace period alone. */
  @Column({ ...INSTANT, name: 'first_used_at', nullable: true }) firstUsedAt!: number | null;

  /** How the user was identified: a JSON object from the name of each method to the instant of its last proof. */
  @Column({ type: 'varchar', length: METHODS_LENGTH }) methods!: string;

  /** What the application keeps on the session: a JSON object of at most 1,024 bytes. */
  @Column({ type: 'text', nullable: true }) data!: string | null;

  /** Wrong passwords in a row within the session, at password changes and reauthentications. Null for none. */
  @Column({ type: 'integer', name: 'failure_count', nullable: true }) failureCount!: number | null;

  /** While a password is being verified within the session: when that is taken for lost. */
  @Column({ ...INSTANT, name: 'attempt_pending_until', nullable: true }) attemptPendingUntil!: number | null;

  /** Until then no password is verified within the session. */
  @Column({ ...INSTANT, name: 'attempts_delayed_until', nullable: true }) attemptsDelayedUntil!: number | null;
}
