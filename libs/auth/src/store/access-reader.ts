import type { Metrics } from '../domain/ports/metrics';
import type { AccessLookup } from '../domain/ports/session-store';
import type { AuthTables } from './auth-tables';
import { accountFromRow, sessionFromRow } from './rows';
import type { Database } from './sql/database';
import { GatheredReads } from './sql/gathered-reads';
import type { Statement } from './sql/statement';
import type { Row } from './sql/unit';

/** How many digests one statement is prepared for, where a list is no parameter: the first of them is repeated to fill it. */
const SIZES = [8, 32, 128];

/**
 * The one read of a guarded request: the session of an access token, with the account of its user. Those that come while
 * one is under way are read together.
 */
export class AccessReader {
  private readonly reads = new GatheredReads<AccessLookup>((digests) => this.read(digests));
  private readonly prepared: readonly { readonly size: number; readonly statement: Statement }[];

  constructor(
    private readonly database: Database,
    tables: AuthTables,
    private readonly metrics: Metrics,
  ) {
    const select = (condition: string): Statement =>
      tables.selectSessionWithAccount(
        's.{session.accessDigest} AS access_digest, s.{session.accessExpiresAt} AS access_expires_at',
        `WHERE s.{session.accessDigest} ${condition}`,
      );
    const one = { size: 1, statement: select('= :digest') };
    // A list of unknown length PostgreSQL plans anew each time, which for one digest costs more than to look it up.
    this.prepared =
      tables.dialect === 'postgres'
        ? [one, { size: Infinity, statement: select('= ANY(:digests)') }]
        : [one, ...SIZES.map((size) => ({ size, statement: select('IN (:digests...)') }))];
  }

  find(digest: string): Promise<AccessLookup | null> {
    return this.reads.get(digest);
  }

  private async read(digests: readonly string[]): Promise<ReadonlyMap<string, AccessLookup>> {
    this.metrics.record('session_auth.lookup.batch_size', digests.length);
    const { size, statement } = this.prepared.find((one) => one.size >= digests.length)!;
    const filled = size === Infinity ? digests : Array.from({ length: size }, (_, i) => digests[i] ?? digests[0]);
    const rows = await this.database.lookUp(statement.with({ digest: digests[0], digests: filled }));
    return new Map(rows.map((row) => [String(row['access_digest']), lookupFromRow(row)]));
  }
}

function lookupFromRow(row: Row): AccessLookup {
  return {
    session: sessionFromRow(row),
    accessExpiresAt: Number(row['access_expires_at']),
    account: accountFromRow(row),
  };
}
