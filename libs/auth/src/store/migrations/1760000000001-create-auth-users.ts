import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createTables, dropTables, type FrozenTable } from './tables';

const USERS: FrozenTable = {
  name: 'auth_users',
  columns: [
    { name: 'id', type: 'varchar', length: 36, primary: true },
    { name: 'username', type: 'varchar', length: 255 },
    { name: 'username_key', type: 'varchar', length: 64 },
    { name: 'password_hash', type: 'varchar', length: 255, nullable: true },
    { name: 'active', type: 'boolean' },
    { name: 'created_at', type: 'bigint' },
  ],
  indices: [{ columns: ['username_key'], unique: true }],
};

/** The library's own table of users, for hosts that have none. */
export class CreateAuthUsers1760000000001 implements MigrationInterface {
  readonly name = 'CreateAuthUsers1760000000001';

  up(runner: QueryRunner): Promise<void> {
    return createTables(runner, [USERS]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTables(runner, [USERS]);
  }
}
