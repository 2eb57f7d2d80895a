import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOKEN_BYTES, writeToken } from '../../../libs/auth/src/domain/opaque-token';
import { createDatabase, type DatabaseName } from '../../../test/support/databases';
import { HostProcess } from '../host/host-process';
import type { Memory } from '../host/spec';
import { assertAllGood, runLoad } from '../load/load';
import { askEach } from '../load/ask-each';
import { tell, type Part } from './part';

const CONNECTIONS = 32;
const SAMPLES = 60;

/** Memory after a garbage collection, at a moment. */
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
  readonly badTokens: { readonly tokens: number; readonly samples: readonly Sample[] };
}

/** Whether memory stays where it is: under full load, and under tokens of the right form that nobody was given. */
export const measureMemory: Part<MemoryResult> = async (settings, cleanUp) => {
  const { minutes, badTokens, options, sessions, load, databases } = settings;
  const database = databases.includes('postgres') ? 'postgres' : databases[0]!;
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  const host = await HostProcess.start({ contender: 'ours', database: own.options, sessions, options });
  cleanUp.add(() => host.stop());
  const url = `${host.url}/me`;
  const warmup = { url, headers: host.headers, connections: CONNECTIONS, seconds: settings.warmupSeconds };
  assertAllGood('ours', await runLoad(load, warmup));

  tell(`memory: ${minutes} minutes of full load on ${database}`);
  const seconds = minutes * 60;
  const full = await sampled(host, seconds / SAMPLES, () => runLoad(load, { ...warmup, seconds }));
  assertAllGood('ours', full.result);
  tell(`memory: ${badTokens} tokens that nobody was given`);
  const bad = await sampled(host, Math.max(0.2, badTokens / 5_000 / SAMPLES), () =>
    askEach(url, badTokens, CONNECTIONS, () => `Bearer ${writeToken('access', randomBytes(TOKEN_BYTES))}`, 401),
  );
  await cleanUp.run();
  return {
    database,
    connections: CONNECTIONS,
    minutes,
    fullLoad: { requests: full.result.requests, samples: full.samples },
    badTokens: { tokens: badTokens, samples: bad.samples },
  };
};

/** Takes samples from before the deed until after it. */
async function sampled<Result>(
  host: HostProcess,
  everySeconds: number,
  deed: () => Promise<Result>,
): Promise<{ result: Result; samples: Sample[] }> {
  const start = performance.now();
  const samples: Sample[] = [];
  const take = async (): Promise<void> => {
    samples.push(sampleOf((performance.now() - start) / 1000, await host.memory()));
  };
  await take();
  let isOver = false;
  const running = deed().finally(() => (isOver = true));
  const watch = async (): Promise<void> => {
    while (!isOver) {
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
