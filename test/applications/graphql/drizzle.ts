import { Global, Injectable, Module, OnApplicationShutdown } from '@nestjs/common';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, serial, text, uuid } from 'drizzle-orm/pg-core';
import { Pool } from 'pg';
import { databaseUrl } from './config';

export const users = pgTable('users', {
  id: uuid().primaryKey().defaultRandom(),
  email: text().notNull().unique(),
  password: text().notNull(),
  firstName: text('first_name').notNull(),
});

export const posts = pgTable('posts', {
  id: serial().primaryKey(),
  title: text().notNull(),
  authorId: uuid('author_id')
    .notNull()
    .references(() => users.id),
});

const MIGRATIONS = [
  `CREATE TABLE users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), email text NOT NULL UNIQUE,
     password text NOT NULL, first_name text NOT NULL)`,
  'CREATE TABLE posts (id serial PRIMARY KEY, title text NOT NULL, author_id uuid NOT NULL REFERENCES users)',
];

@Injectable()
export class Drizzle implements OnApplicationShutdown {
  private readonly pool = new Pool({ connectionString: databaseUrl() });
  readonly db = drizzle({ client: this.pool });

  constructor() {
    // Without a listener, the loss of an idle connection would end the process.
    this.pool.on('error', () => undefined);
  }

  async migrate(further: readonly string[]) {
    for (const statement of [...MIGRATIONS, ...further]) await this.db.execute(sql.raw(statement));
  }

  onApplicationShutdown() {
    return this.pool.end();
  }
}

@Global()
@Module({ providers: [Drizzle], exports: [Drizzle] })
export class DrizzleModule {}
