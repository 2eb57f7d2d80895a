import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { warnOfMissingTables } from './host-checks';
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
