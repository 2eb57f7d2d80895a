import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MEMORY } from '../../../test/support/sqlite';
import type { ResolvedAuthOptions } from './options/auth-options';
import { requireDataSource, warnAboutMissingTables, warnAboutShortGracePeriod } from './startup-checks';
import { AUTH_ENTITIES } from './store/entities';

describe('the check of the tables', () => {
  it.each([
    [false, 1],
    [true, 0],
  ])('warns with the line to add where they are missing (tables exist: %s)', async (synchronize, warnings) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const options = { ...MEMORY, synchronize, entities: [...AUTH_ENTITIES] };
    const dataSource = await new DataSource(options).initialize();
    await warnAboutMissingTables(dataSource);
    await dataSource.destroy();
    expect(warn.mock.calls.filter(([text]) => String(text).includes('AUTH_MIGRATIONS'))).toHaveLength(warnings);
    warn.mockRestore();
  });
});

describe('the check of the grace period', () => {
  it.each([
    [0, 0],
    [1, 1],
    [6, 1],
    [7, 0],
  ])('of %i seconds warns %i times: a client does not come back to another instance sooner', (seconds, warnings) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    warnAboutShortGracePeriod({ refreshReuseGraceSeconds: seconds } as ResolvedAuthOptions);
    expect(warn.mock.calls.filter(([text]) => String(text).includes('Write at least 10'))).toHaveLength(warnings);
    warn.mockRestore();
  });
});

describe('the check of the DataSource', () => {
  const dataSource = (extra: object): DataSource =>
    new DataSource({ type: 'postgres', entities: [...AUTH_ENTITIES], extra });

  it('refuses a timeout of the driver, after which PostgreSQL goes on with the statement', () => {
    const given = dataSource({ query_timeout: 2_000 });
    jest.spyOn(given, 'hasMetadata').mockReturnValue(true);
    expect(() => requireDataSource(given, 'default', true)).toThrow('extra: { statement_timeout: 2000 }');
  });

  it('accepts a timeout of PostgreSQL', () => {
    const given = dataSource({ statement_timeout: 2_000 });
    jest.spyOn(given, 'hasMetadata').mockReturnValue(true);
    expect(requireDataSource(given, 'default', true).dialect).toBe('postgres');
  });
});
