import type { INestApplication } from '@nestjs/common';
import { join } from 'node:path';
import request from 'supertest';
import type { App } from 'supertest/types';
import type { DataSourceOptions } from 'typeorm';
import { createDatabase, describeOnAny, type DatabaseName, type TestDatabase } from '../support/databases';

interface Main {
  createApp(database: DataSourceOptions): Promise<INestApplication<App>>;
}

/** Where @nestjs/graphql stores the types of all schemas, also those of modules that were loaded before. */
const GRAPHQL_STORAGES = ['GqlTypeMetadataStorage', 'GqlLazyMetadataStorageHost'];

/**
 * Runs the tests of an application twice: with the authentication in `auth/before` and with that in `auth/after`. Each
 * time, the application gets an empty database, and `auth` is replaced with the variant.
 *
 * @param folder the application's folder, in which `main.ts` exports `createApp`
 */
export function describeVariants(
  folder: string,
  databases: readonly DatabaseName[],
  defineTests: (http: () => ReturnType<typeof request>) => void,
): void {
  describe.each(['before', 'after'])('%s the adoption', (variant) => {
    let main: Main;

    // Loads the application again, with other classes than those of the previous variant.
    beforeAll(() => {
      jest.resetModules();
      for (const storage of GRAPHQL_STORAGES) Reflect.deleteProperty(globalThis, storage);
      jest.doMock(join(folder, 'auth'), () => jest.requireActual<object>(join(folder, 'auth', variant)));
      main = jest.requireActual<Main>(join(folder, 'main'));
    });

    describeOnAny(databases)('on %s', (name) => {
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

      defineTests(() => request(app!.getHttpServer()));
    });
  });
}
