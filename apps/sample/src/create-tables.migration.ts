import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';

const ID: TableColumnOptions = {
  name: 'id',
  type: 'integer',
  isPrimary: true,
  isGenerated: true,
  generationStrategy: 'increment',
};

/** Creates the application's own tables. */
export class CreateSampleTables1760000000100 implements MigrationInterface {
  readonly name = 'CreateSampleTables1760000000100';

  async up(runner: QueryRunner): Promise<void> {
    const type = runner.manager.dataSource.options.type;
    const isMysql = type === 'mysql' || type === 'mariadb';
    await runner.createTable(
      new Table({
        name: 'users',
        columns: [
          { ...ID, type: isMysql ? 'int' : 'integer' },
          // A binary collation compares names byte by byte, which is the default of the other databases.
          {
            name: 'username',
            type: 'varchar',
            length: '255',
            ...(isMysql ? { collation: 'utf8mb4_bin', charset: 'utf8mb4' } : {}),
          },
          { name: 'password_hash', type: 'varchar', length: '255' },
          { name: 'active', type: isMysql ? 'tinyint' : 'boolean', default: isMysql ? '1' : 'true' },
        ],
        indices: [{ columnNames: ['username'], isUnique: true }],
      }),
    );
    await runner.createTable(
      new Table({
        name: 'security_alerts',
        columns: [
          { ...ID, type: isMysql ? 'int' : 'integer' },
          { name: 'user_id', type: isMysql ? 'int' : 'integer' },
          { name: 'at', type: 'varchar', length: '24' },
          { name: 'ip_address', type: 'varchar', length: '45', isNullable: true },
          { name: 'session_id', type: 'varchar', length: '36' },
          { name: 'sessions_ended', type: isMysql ? 'int' : 'integer' },
        ],
        indices: [{ columnNames: ['user_id'] }],
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('security_alerts');
    await runner.dropTable('users');
  }
}
