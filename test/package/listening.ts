import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How long a process may take until it listens. */
const START_MS = 120_000;

/**
 * Does something with what a process prints of its address, and stops the process.
 * @throws with all that it printed, where it fails, or does not listen in time
 */
export async function whileListening(
  child: ChildProcess,
  address: RegExp,
  use: (address: string) => Promise<void>,
  stop: () => unknown = () => child.kill(),
): Promise<void> {
  let output = '';
  const ended = once(child, 'close') as Promise<[number | null]>;
  let late: NodeJS.Timeout | undefined;
  const listening = new Promise<string>((resolve, reject) => {
    late = setTimeout(() => reject(new Error(`It does not listen after ${START_MS} ms`)), START_MS);
    const read = (chunk: Buffer): void => {
      output += String(chunk);
      const found = address.exec(output)?.[1];
      if (found) resolve(found);
    };
    child.stdout!.on('data', read);
    child.stderr!.on('data', read);
  });
  try {
    const early = ended.then(([code]): never => {
      throw new Error(`The process ended with ${code}`);
    });
    await use(await Promise.race([listening, early]));
  } catch (error) {
    throw new Error(`${(error as Error).message}\nIt printed:\n${output}`, { cause: error });
  } finally {
    clearTimeout(late);
    if (child.exitCode === null && child.signalCode === null) stop();
    await ended;
  }
}
