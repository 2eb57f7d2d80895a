import { Injectable } from '@nestjs/common';
import type { FailureKind } from '../../domain/metrics';
import { StoreProbe } from '../../domain/ports/maintenance';
import { withTimeout } from '../../domain/with-timeout';
import { PruningService } from './pruning.service';

/** Whether logins and guarded requests can be served. Contains nothing secret. */
export interface AuthHealthReport {
  readonly status: 'up' | 'down';
  /** `down`: the database did not answer in time, takes no writes, or lacks a table of the library. */
  readonly database: 'up' | 'down';
  /**
   * Why the database is down, as a word of a closed list; null while it is up. `in_recovery`: a standby of PostgreSQL.
   * `not_ready`: a node that is not part of its cluster. `other`: see the log, a table may be missing.
   */
  readonly reason: FailureKind | null;
  /** When a pruning of this process last finished, in ISO 8601; null for never. */
  readonly lastPrunedAt: string | null;
  /** When one last failed. The next one continues, so this alone is no reason to be down. */
  readonly lastPruneFailedAt: string | null;
}

/** How long `check` waits for the database: less than most probes do. */
const PROBE_TIMEOUT_MS = 2_000;

/** Reports to monitors whether authentication works. */
@Injectable()
export class AuthHealth {
  private probing: Promise<FailureKind | null> | undefined;

  constructor(
    private readonly probe: StoreProbe,
    private readonly pruning: PruningService,
  ) {}

  /** Resolves within two seconds. Parallel calls share one read of the database. */
  async check(): Promise<AuthHealthReport> {
    this.probing ??= this.findFailure().finally(() => (this.probing = undefined));
    const reason = await withTimeout(PROBE_TIMEOUT_MS, this.probing, () => 'timeout' as const);
    const database = reason === null ? 'up' : 'down';
    const { succeededAt, failedAt } = this.pruning.lastRuns;
    return {
      status: database,
      database,
      reason,
      lastPrunedAt: succeededAt?.toISOString() ?? null,
      lastPruneFailedAt: failedAt?.toISOString() ?? null,
    };
  }

  /** The same in the shape of an indicator of `@nestjs/terminus`, under a name. */
  async isHealthy<const Key extends string = 'auth'>(key: Key = 'auth' as Key): Promise<Record<Key, AuthHealthReport>> {
    return { [key]: await this.check() } as Record<Key, AuthHealthReport>;
  }

  private async findFailure(): Promise<FailureKind | null> {
    try {
      return await this.probe.findFailure();
    } catch {
      return 'other';
    }
  }
}
