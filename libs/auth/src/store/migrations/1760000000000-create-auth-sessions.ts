import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createTables, dropTables, type FrozenColumn, type FrozenTable } from './tables';

const text = (name: string, length: number): FrozenColumn => ({ name, type: 'varchar', length });
const instant = (name: string): FrozenColumn => ({ name, type: 'bigint' });
const count = (name: string): FrozenColumn => ({ name, type: 'integer' });
const primary = (column: FrozenColumn): FrozenColumn => ({ ...column, primary: true });
const nullable = (column: FrozenColumn): FrozenColumn => ({ ...column, nullable: true });

const TABLES: readonly FrozenTable[] = [
  {
    name: 'auth_sessions',
    columns: [
      primary(text('id', 36)),
      text('user_id', 255),
      text('state', 16),
      nullable(text('end_reason', 32)),
      nullable(instant('ended_at')),
      nullable(text('ip_address', 45)),
      text('network', 45),
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
      count('generation'),
      { name: 'sealed_answer', type: 'text', nullable: true },
      nullable(instant('sealed_until')),
    ],
    indices: [
      { columns: ['user_id', 'state'] },
      { columns: ['state', 'idle_expires_at'] },
      { columns: ['state', 'absolute_expires_at'] },
      { columns: ['sealed_until'] },
      { columns: ['access_digest'], unique: true },
      { columns: ['refresh_digest'], unique: true },
    ],
  },
  {
    name: 'auth_refresh_tokens',
    columns: [
      primary(text('digest', 64)),
      text('session_id', 36),
      count('generation'),
      text('state', 16),
      instant('retired_at'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['session_id'] }, { columns: ['expires_at'] }],
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
    indices: [{ columns: ['user_id', 'occurred_at', 'id'] }, { columns: ['occurred_at'] }],
  },
  {
    name: 'auth_login_failures',
    columns: [
      primary(text('key', 64)),
      text('name_key', 64),
      count('failure_count'),
      count('pending'),
      instant('pending_until'),
      instant('delayed_until'),
      instant('expires_at'),
    ],
    indices: [{ columns: ['name_key'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_password_resets',
    columns: [primary(text('digest', 64)), text('user_id', 255), instant('expires_at')],
    indices: [{ columns: ['user_id'] }, { columns: ['expires_at'] }],
  },
  {
    name: 'auth_user_locks',
    columns: [primary(text('user_id', 255)), count('credentials_version'), count('revision')],
    indices: [],
  },
];

/** The tables of sessions, tokens, events and what locking needs. */
export class CreateAuthSessions1760000000000 implements MigrationInterface {
  readonly name = 'CreateAuthSessions1760000000000';

  up(runner: QueryRunner): Promise<void> {
    return createTables(runner, TABLES);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTables(runner, TABLES);
  }
}
