import type { INestApplication } from '@nestjs/common';
import { join } from 'node:path';
import type { App } from 'supertest/types';
import type { DataSourceOptions } from 'typeorm';
import { createDatabase, DATABASES, type DatabaseName, type TestDatabase } from '../support/databases';

interface Main {
  createApp(database: DataSourceOptions): Promise<INestApplication<App>>;
}

/** The database on which an application runs, and packages that it uses in a different version than the library's tests. */
interface Setup {
  readonly databases: readonly DatabaseName[];
  readonly packages?: Readonly<Record<string, string>>;
}

/** Where @nestjs/graphql stores the types of all schemas, also those of modules that were loaded before. */
const GRAPHQL_STORAGES = ['GqlTypeMetadataStorage', 'GqlLazyMetadataStorageHost'];

/**
 * Runs the tests of an application twice: with the authentication in `auth/before` and with that in `auth/after`. Each
 * time, the application gets an empty database, and `auth` is replaced with the variant.
 *
 * @param folder the application's folder, in which `main.ts` exports `createApp`
 */
export function describeVariants(folder: string, setup: Setup, defineTests: (server: () => App) => void): void {
  const available = setup.databases.filter((name) => DATABASES.includes(name));
  const onEach = available.length > 0 ? describe.each(available) : describe.skip.each(setup.databases);

  describe.each(['before', 'after'])('%s the adoption', (variant) => {
    let main: Main;

    // Loads the application again, with other classes than those of the previous variant.
    beforeAll(() => {
      jest.resetModules();
      for (const storage of GRAPHQL_STORAGES) Reflect.deleteProperty(globalThis, storage);
      jest.doMock(join(folder, 'auth'), () => jest.requireActual<object>(join(folder, 'auth', variant)));
      for (const [name, other] of Object.entries(setup.packages ?? {})) {
        jest.doMock(name, () => jest.requireActual<object>(other));
      }
      main = jest.requireActual<Main>(join(folder, 'main'));
    });

    onEach('on %s', (name) => {
      let app: INestApplication<App> | undefined;
      let database: TestDatabase;

      beforeAll(async () => {
        database = await createDatabase(name);
        app = await main.createApp(database.options);
      });
      afterAll(async () => {
        await app?.close();
        await database.drop();
      });

      defineTests(() => app!.getHttpServer());
    });
  });
}
