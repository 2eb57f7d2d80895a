import { UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { DataSourceOptions } from 'typeorm';
import { times, type MakeContender } from './contender';
import { digestOf, fillPlainTables, tokenOf } from './plain-tables';
import { openRaw, type Row } from './raw-query';
import { routeBehind } from './route';

/**
 * The lengths of the prepared IN lists, for databases without list parameters. A shorter list repeats its first
 * digest.
 */
const LIST_SIZES = [8, 32, 128];
const MAX_BATCH = 128;

interface PendingFind {
  readonly digest: string;
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

type Read = (digests: readonly string[]) => Promise<readonly Row[]>;

/** Runs one read at a time. Requests that arrive during a read share the next one. */
class BatchedRead {
  private pending: PendingFind[] = [];
  private isReading = false;

  constructor(private readonly read: Read) {}

  find(digest: string): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      this.pending.push({ digest, resolve, reject });
      if (!this.isReading) this.readNext();
    });
  }

  private readNext(): void {
    this.isReading = this.pending.length > 0;
    if (!this.isReading) return;
    const batch = this.pending.splice(0, MAX_BATCH);
    this.read(batch.map(({ digest }) => digest)).then(
      (rows) => {
        this.readNext();
        const byDigest = new Map(rows.map((row) => [row['digest'], row]));
        for (const { digest, resolve } of batch) resolve(byDigest.get(digest));
      },
      (error: unknown) => {
        this.readNext();
        for (const { reject } of batch) reject(error);
      },
    );
  }
}

/**
 * The fastest guard that checks each request against the database. It only reads the header and runs a batched
 * lookup.
 */
class BatchingGuard implements CanActivate {
  constructor(private readonly sessions: BatchedRead) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Omit<Request, 'session'> & { session?: Row }>();
    const row = await this.sessions.find(digestOf(tokenOf(request.headers.authorization)));
    if (!row || Number(row['expires_at']) <= new Date().getTime() || !row['active']) throw new UnauthorizedException();
    request.session = row;
    return true;
  }
}

/** Prepares statements that look up six columns, by one digest or by several. */
function prepareRead(options: DataSourceOptions): Read {
  const isPostgres = options.type === 'postgres';
  const raw = openRaw(options);
  const prepare = (name: string, condition: string): ReturnType<typeof raw.prepare> =>
    raw.prepare(
      `sessions_${name}`,
      `SELECT s.digest, s.id, s.expires_at, u.id AS user_id, u.username, u.active
       FROM sessions s JOIN users u ON u.id = s.${isPostgres ? '"userId"' : 'userId'} WHERE s.digest ${condition}`,
    );
  const one = prepare('one', '= ?');
  if (isPostgres) {
    const many = prepare('many', '= ANY(?)');
    return (digests) => (digests.length === 1 ? one(digests) : many([digests]));
  }
  const lists = LIST_SIZES.map((size) => {
    const placeholders = times(size, () => '?').join(', ');
    return { size, read: prepare(`list_${size}`, `IN (${placeholders})`) };
  });
  return (digests) => {
    if (digests.length === 1) return one(digests);
    const { size, read } = lists.find((list) => list.size >= digests.length)!;
    return read(times(size, (index) => digests[index] ?? digests[0]!));
  };
}

export const make: MakeContender = async ({ database, sessions }) => {
  const headers = await fillPlainTables(database, sessions);
  const guard = new BatchingGuard(new BatchedRead(prepareRead(database)));
  return {
    module: { controllers: [routeBehind(guard)] },
    credentials: () => Promise.resolve(headers),
  };
};
