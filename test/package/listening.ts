import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The time in which a process must listen, in milliseconds. */
const START_MS = 120_000;

/**
 * Waits for the process to print its address, calls `use` with the match, and stops the process.
 *
 * @throws with the output of the process if it fails or does not listen in time
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
