import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { DeviceType } from '../../domain/device';
import { METHODS_LENGTH } from '../../domain/proofs';
import type { TokenTransport } from '../../domain/refresh-decision';
import type { EndReason, SessionState } from '../../domain/session';
import { COMPARED_BY_BYTES, DIGEST, INSTANT, USER_ID, UUID } from './columns';

/**
 * A session: one login on one client, with the digests of its current tokens.
 *
 * A refresh and an activity write change no indexed column, so PostgreSQL can use HOT updates.
 */
@Entity('auth_sessions', COMPARED_BY_BYTES)
@Index(['userId', 'state'])
@Index(['userId', 'loginNetwork'])
export class AuthSession {
  /** A UUID. Every token of the session contains it. */
  @PrimaryColumn(UUID) id!: string;
  @Column({ ...USER_ID, name: 'user_id' }) userId!: string;
  @Column({ type: 'varchar', length: 16 }) state!: SessionState;
  @Column({ type: 'varchar', length: 32, name: 'end_reason', nullable: true }) endReason!: EndReason | null;
  @Column({ ...INSTANT, name: 'ended_at', nullable: true }) endedAt!: number | null;

  /** When pruning checks the row. An active session may have expired by then, and an ended session may be removed. */
  @Index() @Column({ ...INSTANT, name: 'check_at' }) checkAt!: number;
  @Column({ type: 'varchar', length: 45, name: 'ip_address', nullable: true }) ipAddress!: string | null;

  /** The network of the login. Empty if the address is unknown or addresses are not tracked. */
  @Column({ type: 'varchar', length: 45, name: 'login_network' }) loginNetwork!: string;
  @Column({ type: 'varchar', length: 16, name: 'device_type' }) deviceType!: DeviceType;
  @Column({ type: 'varchar', length: 64, name: 'os_family' }) osFamily!: string;
  @Column({ type: 'varchar', length: 64, name: 'browser_family' }) browserFamily!: string;
  @Column({ type: 'varchar', length: 64, name: 'device_name' }) deviceName!: string;
  @Column({ ...INSTANT, name: 'created_at' }) createdAt!: number;

  /** When the user last proved their identity: at a login, password change, reauthentication or `confirmIdentity`. */
  @Column({ ...INSTANT, name: 'authenticated_at' }) authenticatedAt!: number;
  @Column({ ...INSTANT, name: 'last_activity' }) lastActivity!: number;
  @Column({ ...INSTANT, name: 'idle_expires_at' }) idleExpiresAt!: number;
  @Column({ ...INSTANT, name: 'absolute_expires_at' }) absoluteExpiresAt!: number;

  /** The digest of the current access token. */
  @Column({ ...DIGEST, name: 'access_digest' }) accessDigest!: string;
  @Column({ ...INSTANT, name: 'access_expires_at' }) accessExpiresAt!: number;

  /** The digest of the current refresh token. A refresh accepts no other token, except within the grace period. */
  @Column({ ...DIGEST, name: 'refresh_digest' }) refreshDigest!: string;
  @Column({ ...INSTANT, name: 'refresh_expires_at' }) refreshExpiresAt!: number;

  /** The digest of the secret that all refresh tokens of the current family contain. */
  @Column({ ...DIGEST, name: 'family_digest' }) familyDigest!: string;

  /** The generation of the current refresh token. Tokens of the family with a lower generation were used. */
  @Column(INSTANT) generation!: number;

  /** When the session was last refreshed. Null before the first refresh. */
  @Column({ ...INSTANT, name: 'refreshed_at', nullable: true }) refreshedAt!: number | null;

  /**
   * The last network of a refresh, or else of the login, that was known and tracked. Null if there
   * is none.
   */
  @Column({ type: 'varchar', length: 45, name: 'last_network', nullable: true }) lastNetwork!: string | null;

  /**
   * The seed of the current pair. Within the grace period, the pair is derived again from the seed
   * and the previous refresh token. Null if the tokens are random: without a grace period, and in
   * the first pair of a family. Also null after the session has ended.
   */
  @Column({ type: 'varchar', length: 22, name: 'replay_seed', nullable: true }) replaySeed!: string | null;
  @Column({ ...INSTANT, name: 'replay_until', nullable: true }) replayUntil!: number | null;
  @Column({ type: 'varchar', length: 8, name: 'replay_transport', nullable: true })
  replayTransport!: TokenTransport | null;

  /** The digest of the previous refresh token together with the network that the current pair was issued to. */
  @Column({ type: 'varchar', length: 43, name: 'replay_network_digest', nullable: true })
  replayNetworkDigest!: string | null;
  @Column({ type: 'integer', name: 'replay_count' }) replayCount!: number;

  /** When the current access token first authenticated a request. Stored only within the grace period. */
  @Column({ ...INSTANT, name: 'first_used_at', nullable: true }) firstUsedAt!: number | null;

  /**
   * How the user was identified: a JSON object that maps the name of each method to the time of its
   * last proof, in milliseconds.
   */
  @Column({ type: 'varchar', length: METHODS_LENGTH }) methods!: string;

  /** The data that the application keeps on the session: a JSON object of at most 1,024 bytes. */
  @Column({ type: 'text', nullable: true }) data!: string | null;

  /** The number of consecutive wrong passwords and other wrong secrets within the session. Null without a streak. */
  @Column({ type: 'integer', name: 'failure_count', nullable: true }) failureCount!: number | null;

  /**
   * The methods, at most 8, that have failed in the streak and have not succeeded since, each enclosed in
   * commas. The streak ends when none remains.
   */
  @Column({ type: 'varchar', length: METHODS_LENGTH, name: 'failed_methods', nullable: true })
  failedMethods!: string | null;

  /** When the slot of the last attempt expires. Null if the slot was released, or if there was no attempt. */
  @Column({ ...INSTANT, name: 'attempt_pending_until', nullable: true }) attemptPendingUntil!: number | null;

  /** Attempts within the session are refused before this instant. */
  @Column({ ...INSTANT, name: 'attempts_delayed_until', nullable: true }) attemptsDelayedUntil!: number | null;
}
