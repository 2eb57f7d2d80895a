import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import { ApplicationProcess } from '../application/application-process';
import type { Memory } from '../application/spec';
import { assertAllSucceeded, runLoad } from '../load/load';
import { requestEach } from '../load/request-each';
import { unknownAccessToken } from '../load/unknown-token';
import { log, type Part } from './part';

const CONNECTIONS = 32;
const SAMPLES = 60;

/** The memory of the application after a garbage collection. */
export interface Sample {
  readonly second: number;
  readonly rssMiB: number;
  readonly heapMiB: number;
}

export interface MemoryResult {
  readonly database: DatabaseName;
  readonly connections: number;
  readonly minutes: number;
  readonly fullLoad: { readonly requests: number; readonly samples: readonly Sample[] };
  readonly unknownTokens: { readonly tokens: number; readonly samples: readonly Sample[] };
}

/**
 * Measures whether memory grows under full load, and under requests with well-formed tokens that were never
 * issued.
 */
export const measureMemory: Part<MemoryResult> = async (settings, teardown) => {
  const { minutes, unknownTokens, options, sessions, load, databases } = settings;
  const database = databases.includes('postgres') ? 'postgres' : databases[0]!;
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const application = await ApplicationProcess.start({
    contender: 'ours',
    database: testDatabase.options,
    sessions,
    options,
  });
  teardown.add(() => application.stop());
  const url = `${application.url}/me`;
  const warmup = { url, headers: application.headers, connections: CONNECTIONS, seconds: settings.warmupSeconds };
  assertAllSucceeded('ours', await runLoad(load, warmup));

  log(`memory: ${minutes} minutes of full load on ${database}`);
  const seconds = minutes * 60;
  const full = await sampled(application, seconds / SAMPLES, () => runLoad(load, { ...warmup, seconds }));
  assertAllSucceeded('ours', full.result);
  log(`memory: ${unknownTokens} unknown tokens`);
  const unknown = await sampled(application, Math.max(0.2, unknownTokens / 5_000 / SAMPLES), () =>
    requestEach(url, unknownTokens, CONNECTIONS, () => `Bearer ${unknownAccessToken()}`, 401),
  );
  await teardown.run();
  return {
    database,
    connections: CONNECTIONS,
    minutes,
    fullLoad: { requests: full.result.requests, samples: full.samples },
    unknownTokens: { tokens: unknownTokens, samples: unknown.samples },
  };
};

/** Takes samples while the operation runs. The first sample is taken before the operation starts. */
async function sampled<Result>(
  application: ApplicationProcess,
  everySeconds: number,
  operation: () => Promise<Result>,
): Promise<{ result: Result; samples: Sample[] }> {
  const start = performance.now();
  const samples: Sample[] = [];
  const take = async (): Promise<void> => {
    samples.push(sampleOf((performance.now() - start) / 1000, await application.memory()));
  };
  await take();
  let isDone = false;
  const running = operation().finally(() => (isDone = true));
  const watch = async (): Promise<void> => {
    while (!isDone) {
      await Promise.race([sleep(everySeconds * 1000), running]);
      await take();
    }
  };
  const [result] = await Promise.all([running, watch()]);
  return { result, samples };
}

function sampleOf(second: number, { rss, heapUsed }: Memory): Sample {
  const mib = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10;
  return { second: Math.round(second * 10) / 10, rssMiB: mib(rss), heapMiB: mib(heapUsed) };
}
