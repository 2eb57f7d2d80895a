import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { peerVersion } from '../contenders/peer';

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

/** The versions of the installed packages and programs, by name. */
export function versions(): Record<string, string> {
  const found = [
    ['node', process.versions.node],
    ['nestjs-session-auth', read(join(__dirname, '../../../libs/auth/package.json'))],
    ...REPOSITORY_PACKAGES.map((name) => [name, read(resolved(name))]),
    ...BENCH_PACKAGES.map((name) => [name, peerVersion(name)]),
    ['postgres', commandVersion('psql')],
    ['mariadb', commandVersion('mariadb')],
    ['pgbouncer', commandVersion('pgbouncer')],
  ];
  return Object.fromEntries(found.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
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

function commandVersion(command: string): string | null {
  try {
    const output = execFileSync(command, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return /(\d+\.[\d.]+)-MariaDB/.exec(output)?.[1] ?? /\d+\.[\d.]+/.exec(output)?.[0] ?? null;
  } catch {
    return null;
  }
}
