import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';

/**
 * All ways to guard the route. `guard` is the library's guard, and `exhausted` the same while the application uses up its
 * own pool. `none` has no guard. `batching` is the fastest possible check of each request against the database, and
 * `prepared` is the fastest possible check with one query per request.
 */
export const CONTENDERS = ['none', 'guard', 'exhausted', 'batching', 'prepared', 'jwt', 'better-auth'] as const;

export type ContenderName = (typeof CONTENDERS)[number];

export type Headers = Readonly<Record<string, string>>;

/** The setup of a contender. */
export interface ContenderSetup {
  readonly database: DataSourceOptions;
  /** The number of sessions to create, each for a different user. 0 if another instance creates the sessions. */
  readonly sessions: number;
  /** Options of the library's module. Default: none. */
  readonly options?: object;
}

/** One way to guard the route. */
export interface Contender {
  readonly module: ModuleMetadata;
  readonly app?: NestApplicationOptions;
  configure?(app: INestApplication): void;
  /** Request headers, one set per session. */
  credentials(app: INestApplication): Promise<readonly Headers[]>;
}

export type MakeContender = (setup: ContenderSetup) => Promise<Contender>;

export const DAY_MS = 86_400_000;

export function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/**
 * The number of concurrent operations, below the default size of a connection pool, so that no operation waits for
 * a connection.
 */
const CONCURRENCY = 8;

/** Does the same as `times` for asynchronous functions. At most eight calls run at the same time. */
export async function timesAsync<Made>(count: number, make: (index: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  while (made.length < count) {
    const first = made.length;
    made.push(...(await Promise.all(times(Math.min(CONCURRENCY, count - first), (index) => make(first + index)))));
  }
  return made;
}
