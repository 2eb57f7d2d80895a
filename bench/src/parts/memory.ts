import { startOnNewDatabase } from '../application/application-process';
import { assertAllSucceeded, runLoad } from '../load/load';
import { figure, log, type Part } from '../measure/part';
import { median } from '../measure/statistics';

const CONNECTIONS = 32;

/** Measures whether the heap grows while many users send requests. Each round ends with a garbage collection. */
export const measureMemory: Part = async ({ databases, users, load, rounds, seconds }, teardown) => {
  const database = databases[0]!;
  log(`memory: opening the sessions of ${users} users on ${database}`);
  const application = await startOnNewDatabase({ contender: 'guard', database, sessions: users }, teardown);
  const { url, headers } = application;
  const heap: number[] = [];
  for (let round = 0; round < 3 * rounds; round++) {
    log(`memory: round ${round + 1} of ${3 * rounds}`);
    const job = { url: `${url}/me`, headers, connections: CONNECTIONS, seconds: 2 * seconds };
    assertAllSucceeded('guard', await runLoad(load, job));
    heap.push(await application.heapUsed());
  }
  await teardown.run();
  // The first third warms the application up.
  const beginning = median(heap.slice(rounds, 2 * rounds));
  const atEnd = heap.slice(2 * rounds).map((used) => used / beginning);
  return [figure('heap at the end / heap at the beginning', database, 'ratio', atEnd)];
};
