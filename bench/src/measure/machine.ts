import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../../test/support/databases';
import { peerVersion } from '../contenders/peer';
import type { DatabaseName } from '../settings';

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
}

export function machine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${/^\d+\.\d+/.exec(release())?.[0] ?? ''}`,
  };
}

const REPOSITORY_PACKAGES = [
  '@nestjs/core',
  '@nestjs/platform-express',
  'express',
  'typeorm',
  'pg',
  'mysql2',
  'better-sqlite3',
  'bcrypt',
];
const BENCH_PACKAGES = ['@nestjs/jwt', 'better-auth', '@thallesp/nestjs-better-auth'];

/** Returns the versions of the installed packages, by name. */
export function packageVersions(): Record<string, string> {
  const found = [
    ['node', process.versions.node],
    ['nestjs-session-auth', read(join(__dirname, '../../../libs/auth/package.json'))],
    ...REPOSITORY_PACKAGES.map((name) => [name, read(resolved(name))]),
    ...BENCH_PACKAGES.map((name) => [name, peerVersion(name)]),
  ];
  return Object.fromEntries(found.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Returns the versions of those databases that are servers. */
export async function serverVersions(databases: readonly DatabaseName[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of databases.filter((one) => one !== 'sqlite')) {
    const database = await createDatabase(name);
    const dataSource = await new DataSource(database.options).initialize();
    found[name] = /^[\d.]+/.exec(dataSource.driver.version!)![0];
    await dataSource.destroy();
    await database.drop();
  }
  return found;
}

function resolved(name: string): string {
  const folders = createRequire(__filename).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name, 'package.json')).find((file) => read(file) !== null) ?? '';
}

function read(file: string): string | null {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    return null;
  }
}
