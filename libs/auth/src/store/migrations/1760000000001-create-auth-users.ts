import { instant, nullable, primary, TableMigration, text, type FrozenTable } from './tables';

const USERS: FrozenTable = {
  name: 'auth_users',
  columns: [
    primary(text('id', 36)),
    text('username', 255),
    text('username_key', 64),
    nullable(text('password_hash', 255)),
    { name: 'active', type: 'boolean' },
    instant('created_at'),
  ],
  indices: [{ columns: ['username_key'], unique: true }],
};

/** Creates the library's own table of users, for applications without their own users. */
export class CreateAuthUsers1760000000001 extends TableMigration {
  readonly name = 'CreateAuthUsers1760000000001';
  protected readonly tables = [USERS];
}
