import { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateUsers1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner) {
    await runner.query(`CREATE TABLE users (
      id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
      username varchar(255) NOT NULL UNIQUE,
      email varchar(255) NOT NULL UNIQUE,
      password varchar(255) NOT NULL,
      bio varchar(255) NOT NULL DEFAULT ''
    )`);
    await runner.query(`CREATE TABLE follows (
      follower_id int NOT NULL REFERENCES users (id),
      followed_id int NOT NULL REFERENCES users (id),
      PRIMARY KEY (follower_id, followed_id)
    )`);
  }

  async down(runner: QueryRunner) {
    await runner.query('DROP TABLE follows');
    await runner.query('DROP TABLE users');
  }
}
