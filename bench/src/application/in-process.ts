import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createDatabase } from '../../../test/support/databases';
import { make } from '../contenders/guard';
import type { Teardown } from '../measure/teardown';
import type { DatabaseName } from '../settings';

/** Starts the library in this process on a new database, without HTTP and without scheduled pruning. */
export async function openLibrary(
  name: DatabaseName,
  options: object,
  teardown: Teardown,
): Promise<INestApplicationContext> {
  const database = await createDatabase(name, { isDurable: true });
  teardown.add(() => database.drop());
  const setup = { database: database.options, sessions: 0, options: { pruneIntervalSeconds: false, ...options } };
  const { module } = await make(setup);
  @Module({ imports: module.imports! })
  class LibraryModule {}
  const app = await NestFactory.createApplicationContext(LibraryModule, { logger: ['error', 'fatal'] });
  teardown.add(() => app.close());
  return app;
}
