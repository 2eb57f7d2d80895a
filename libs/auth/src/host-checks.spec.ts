import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { requireDataSource, warnOfMissingTables } from './host-checks';
import { AUTH_ENTITIES } from './store/entities';

describe('a host that has not made the tables', () => {
  it.each([
    [false, 1],
    [true, 0],
  ])('is told so, and how, at the start (tables there: %s)', async (synchronize, warnings) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const options = { type: 'better-sqlite3', database: ':memory:', synchronize } as const;
    const dataSource = await new DataSource({ ...options, entities: [...AUTH_ENTITIES] }).initialize();
    await warnOfMissingTables(dataSource);
    await dataSource.destroy();
    expect(warn.mock.calls.filter(([text]) => String(text).includes('AUTH_MIGRATIONS'))).toHaveLength(warnings);
    warn.mockRestore();
  });
});

describe('a host whose statements are given up by the driver, and carried out by PostgreSQL later', () => {
  const dataSource = (extra: object): DataSource =>
    new DataSource({ type: 'postgres', entities: [...AUTH_ENTITIES], extra });

  it('does not start, and is told what to write', () => {
    const given = dataSource({ query_timeout: 2_000 });
    jest.spyOn(given, 'hasMetadata').mockReturnValue(true);
    expect(() => requireDataSource(given, 'default', true)).toThrow('extra: { statement_timeout: 2000 }');
  });

  it('starts where PostgreSQL ends them', () => {
    const given = dataSource({ statement_timeout: 2_000 });
    jest.spyOn(given, 'hasMetadata').mockReturnValue(true);
    expect(requireDataSource(given, 'default', true).dialect).toBe('postgres');
  });
});
