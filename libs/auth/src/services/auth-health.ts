import { Injectable } from '@nestjs/common';
import type { StoreProbe } from '../domain/ports/store-probe';
import type { PruningService } from './pruning.service';

/** Whether logins and guarded requests can be served; it holds nothing that is secret. */
export interface AuthHealthReport {
  readonly status: 'up' | 'down';
  /** `down`: the database did not answer in time, or a table of the library is missing. */
  readonly database: 'up' | 'down';
  /** When a clean-up of this process last came to its end, in ISO 8601; null for never. */
  readonly lastPrunedAt: string | null;
  /** When one last failed. The next one goes on, so that this alone is no reason to be down. */
  readonly lastPruneFailedAt: string | null;
}

/** How long an answer is waited for: less than probes wait by habit. */
const ANSWER_WITHIN_MS = 2_000;

/** Tells monitors whether authentication works. */
@Injectable()
export class AuthHealth {
  private probing: Promise<boolean> | undefined;

  constructor(
    private readonly probe: StoreProbe,
    private readonly pruning: PruningService,
  ) {}

  /** Answers within two seconds, and never rejects. However many ask at once, the database is asked once. */
  async check(): Promise<AuthHealthReport> {
    this.probing ??= this.reads().finally(() => (this.probing = undefined));
    const database = (await within(ANSWER_WITHIN_MS, this.probing)) ? 'up' : 'down';
    const { succeededAt, failedAt } = this.pruning.lastRuns;
    return {
      status: database,
      database,
      lastPrunedAt: succeededAt?.toISOString() ?? null,
      lastPruneFailedAt: failedAt?.toISOString() ?? null,
    };
  }

  /** The same in the shape of an indicator of `@nestjs/terminus`, under a name. */
  async isHealthy<const Key extends string = 'auth'>(key: Key = 'auth' as Key): Promise<Record<Key, AuthHealthReport>> {
    return { [key]: await this.check() } as Record<Key, AuthHealthReport>;
  }

  private reads(): Promise<boolean> {
    return this.probe.read().then(
      () => true,
      () => false,
    );
  }
}

/** False where it takes longer. */
async function within(milliseconds: number, work: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
