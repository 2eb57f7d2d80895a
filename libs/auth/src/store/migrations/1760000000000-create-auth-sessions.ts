import { count, instant, nullable, primary, TableMigration, text, type FrozenTable } from './tables';

const TABLES: readonly FrozenTable[] = [
  {
    name: 'auth_sessions',
    // Leaves space in each page for new row versions, so that refreshes and activity writes can be
    // HOT updates.
    fillFactor: 70,
    columns: [
      primary(text('id', 36)),
      text('user_id', 255),
      text('state', 16),
      nullable(text('end_reason', 32)),
      nullable(instant('ended_at')),
      instant('check_at'),
      nullable(text('ip_address', 45)),
      text('login_network', 45),
      text('device_type', 16),
      text('os_family', 64),
      text('browser_family', 64),
      text('device_name', 64),
      instant('created_at'),
      instant('authenticated_at'),
      instant('last_activity'),
      instant('idle_expires_at'),
      instant('absolute_expires_at'),
      text('access_digest', 64),
      instant('access_expires_at'),
      text('refresh_digest', 64),
      instant('refresh_expires_at'),
      text('family_digest', 64),
      instant('generation'),
      nullable(instant('refreshed_at')),
      nullable(text('last_network', 45)),
      nullable(text('replay_seed', 22)),
      nullable(instant('replay_until')),
      nullable(text('replay_transport', 8)),
      nullable(text('replay_network_digest', 43)),
      count('replay_count'),
      nullable(instant('first_used_at')),
      text('methods', 512),
      nullable({ name: 'data', type: 'text' }),
      nullable(count('failure_count')),
      nullable(text('failed_methods', 512)),
      nullable(instant('attempt_pending_until')),
      nullable(instant('attempts_delayed_until')),
    ],
    indices: [{ columns: ['user_id', 'state'] }, { columns: ['user_id', 'login_network'] }, { columns: ['check_at'] }],
  },
  {
    name: 'auth_events',
    columns: [
      primary(instant('id')),
      nullable(text('user_id', 255)),
      text('event', 32),
      nullable(text('ip_address', 45)),
      text('user_agent', 500),
      { name: 'extra', type: 'text' },
      instant('occurred_at'),
    ],
    indices: [{ columns: ['user_id', 'id'] }],
  },
  {
    name: 'auth_login_failures',
    columns: [
      primary(text('key', 64)),
      text('account_key', 64),
      text('method', 32),
      count('failure_count'),
      count('pending'),
      instant('pending_until'),
      instant('delayed_until'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['account_key'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_login_tickets',
    columns: [
      primary(text('digest', 64)),
      text('user_id', 255),
      count('credentials_version'),
      text('methods', 512),
      nullable({ name: 'data', type: 'text' }),
      count('failure_count'),
      instant('created_at'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_password_resets',
    columns: [primary(text('digest', 64)), text('user_id', 255), instant('expires_at')],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_user_locks',
    columns: [primary(text('user_id', 255)), count('credentials_version'), instant('lock_count')],
    indices: [],
  },
];

/** Creates the tables of sessions, events, failed logins, login tickets, password resets and user locks. */
export class CreateAuthSessions1760000000000 extends TableMigration {
  readonly name = 'CreateAuthSessions1760000000000';
  protected readonly tables = TABLES;
}
