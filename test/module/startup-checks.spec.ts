import { Logger } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { MEMORY } from '../support/sqlite';
import { databaseForTest, startForTest } from '../support/start-for-test';
import { TestApplication } from '../support/test-application';
import { ChatGateway, gatewayOptions } from '../http/transports/chat';
import type { ResolvedAuthOptions } from '../../libs/auth/src/options/auth-options';
import { UserStore } from '../../libs/auth/src/adapters/user-store';
import {
  requireDataSource,
  warnAboutMissingTables,
  warnAboutShortGracePeriod,
} from '../../libs/auth/src/startup-checks';
import { AUTH_ENTITIES } from '../../libs/auth/src/database/entities';

jest.mock('../../libs/auth/src/base/versions', () => ({
  unsupportedVersions: () => ['typeorm 0.2.45 is not supported.'],
  readManifest: (name: string) => ({ name, version: '11.2.6' }),
}));

@Entity('members')
class Member {
  @PrimaryGeneratedColumn() id!: number;
  @Column() email!: string;
  @Column() password!: string;
}

abstract class Directory extends UserStore {}

const MEMBERS = { entity: Member, username: 'email', passwordHash: 'password' };
const DIRECTORY = Directory as never as UserStore;

/** Returns the warnings that `check` logs. */
async function warningsOf(check: () => unknown): Promise<string[]> {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  await check();
  const texts = warn.mock.calls.map(([text]) => String(text));
  warn.mockRestore();
  return texts;
}

describe('the startup check of the tables', () => {
  const OWN_TABLES = expect.stringContaining('through withAuthTables({ ... }), then run "typeorm migration:run"');
  const OTHER_TABLES = expect.stringContaining('withAuthTables({ ... }, { usersTable: false }), then run');
  const MEMBERS_TABLE = expect.stringContaining('The table of users.entity, Member, cannot be read');

  it.each([
    ["the library's tables, with the library's users", undefined, /^auth_/, [OWN_TABLES]],
    ["auth_users, with the library's users", undefined, /^auth_users$/, [OWN_TABLES]],
    ['all tables, with mapped users', MEMBERS, /./, [OTHER_TABLES, MEMBERS_TABLE]],
    ['the table of mapped users', MEMBERS, /^members$/, [MEMBERS_TABLE]],
    ["the library's tables, with mapped users", MEMBERS, /^auth_/, [OTHER_TABLES]],
    ['all tables, with a UserStore', DIRECTORY, /./, [OTHER_TABLES]],
    ['auth_users, with mapped users', MEMBERS, /^auth_users$/, []],
  ])('warns only about required tables if the following are missing: %s', async (_, users, missing, warnings) => {
    const entities = [Member, ...AUTH_ENTITIES];
    const dataSource = await new DataSource({ ...MEMORY, synchronize: true, entities }).initialize();
    for (const { tableName } of dataSource.entityMetadatas) {
      if (missing.test(tableName)) await dataSource.query(`DROP TABLE ${tableName}`);
    }
    const logged = await warningsOf(() => warnAboutMissingTables(dataSource, { users }, () => false));
    expect(await warningsOf(() => warnAboutMissingTables(dataSource, { users }, () => true))).toEqual([]);
    await dataSource.destroy();
    expect(logged).toEqual(warnings);
  });
});

describe('the startup check of the grace period', () => {
  it.each([
    [0, 0],
    [1, 1],
    [6, 1],
    [7, 0],
  ])('a grace period of %i s causes %i warnings', async (seconds, warnings) => {
    const options = { refreshReuseGraceSeconds: seconds } as ResolvedAuthOptions;
    const logged = await warningsOf(() => warnAboutShortGracePeriod(options));
    expect(logged.filter((text) => text.includes('to at least 10'))).toHaveLength(warnings);
  });
});

describe('the startup check of the DataSource', () => {
  it('refuses query_timeout, after which PostgreSQL continues the statement, and accepts statement_timeout', () => {
    const check = (extra: object): DataSource => {
      const given = new DataSource({ type: 'postgres', entities: [...AUTH_ENTITIES], extra });
      jest.spyOn(given, 'hasMetadata').mockReturnValue(true);
      return requireDataSource(given, 'default', true);
    };
    expect(() => check({ query_timeout: 2_000 })).toThrow('extra: { statement_timeout: 2000 }');
    expect(check({ statement_timeout: 2_000 })).toBeInstanceOf(DataSource);
  });
});

it('the startup warns once about a version that is not supported', async () => {
  const app = await startForTest('sqlite');
  expect(app.logs.filter((text) => text.includes('typeorm 0.2.45 is not supported.'))).toHaveLength(1);
});

it('a gateway that relies on the global guard prevents startup before Nest 12, which ignores it', async () => {
  const options = { ...gatewayOptions(ChatGateway), database: await databaseForTest('sqlite') };
  const error = await TestApplication.startError({ ...options, auth: { globalGuard: true } });
  expect(error).toContain('anyone could send: ChatGateway.handshake. Add @UseGuards(BearerAuthGuard) or @Public()');
});
