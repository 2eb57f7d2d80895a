import { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateUsers1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner) {
    const generated = runner.connection.options.type === 'postgres' ? 'serial' : 'integer';
    await runner.query('CREATE TABLE roles (id integer PRIMARY KEY, name varchar NOT NULL)');
    await runner.query(`INSERT INTO roles (id, name) VALUES (1, 'admin'), (2, 'user')`);
    await runner.query(`CREATE TABLE users (id ${generated} PRIMARY KEY, email varchar NOT NULL UNIQUE,
      password varchar NOT NULL, role_id integer NOT NULL REFERENCES roles (id), deleted_at timestamp)`);
  }

  async down(runner: QueryRunner) {
    await runner.dropTable('users');
    await runner.dropTable('roles');
  }
}
