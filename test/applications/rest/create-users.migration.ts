import { MigrationInterface, QueryRunner, Table } from 'typeorm';

export class CreateUsers1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner) {
    const date = runner.connection.driver.normalizeType({ type: Date });
    const id = { name: 'id', type: 'integer', isPrimary: true };
    const name = { name: 'name', type: 'varchar' };
    await runner.createTable(new Table({ name: 'roles', columns: [id, name] }));
    await runner.query(`INSERT INTO roles (id, name) VALUES (1, 'admin'), (2, 'user')`);
    const users = new Table({
      name: 'users',
      columns: [
        { ...id, isGenerated: true, generationStrategy: 'increment' },
        { name: 'email', type: 'varchar', isUnique: true },
        { name: 'password', type: 'varchar' },
        { name: 'role_id', type: 'integer' },
        { name: 'deleted_at', type: date, isNullable: true },
      ],
      foreignKeys: [{ columnNames: ['role_id'], referencedTableName: 'roles', referencedColumnNames: ['id'] }],
    });
    await runner.createTable(users);
  }

  async down(runner: QueryRunner) {
    await runner.dropTable('users');
    await runner.dropTable('roles');
  }
}
