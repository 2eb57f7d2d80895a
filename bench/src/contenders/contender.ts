import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';

/** Who is measured; `none` has no guard, `prepared` is the limit of one query each. */
export const CONTENDERS = ['none', 'ours', 'prepared', 'jwt', 'typeorm', 'better-auth', 'express-session'] as const;

export type ContenderName = (typeof CONTENDERS)[number];

/** Those that need packages of `bench/package.json`. */
export const PEERS: readonly ContenderName[] = ['jwt', 'better-auth', 'express-session'];

export type Headers = Readonly<Record<string, string>>;

/** What a contender is given. */
export interface Circumstances {
  readonly database: DataSourceOptions;
  /** How many sessions, of as many users, there are to be; 0 where another instance has made them. */
  readonly sessions: number;
  /** Options of the library's module. */
  readonly options: object;
}

/** One way to guard the route. */
export interface Contender {
  readonly module: ModuleMetadata;
  readonly app?: NestApplicationOptions;
  configure?(app: INestApplication): void;
  /** What a client of each session sends. */
  credentials(app: INestApplication): Promise<readonly Headers[]>;
}

export type MakeContender = (given: Circumstances) => Promise<Contender>;

export const DAY_MS = 86_400_000;

export function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** So many at once that a pool of connections is used, and none waits for it for long. */
const AT_ONCE = 8;

/** Makes things in a database, some of them side by side. */
export async function timesAsync<Made>(count: number, make: (index: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) {
    const first = made.length;
    made.push(...(await Promise.all(times(Math.min(AT_ONCE, count - first), (index) => make(first + index)))));
  }
  return made;
}
