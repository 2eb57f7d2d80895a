import { spawn } from 'node:child_process';
import type { DataSourceOptions } from 'typeorm';
import type { CompiledHost } from './compile';

/** Runs a host while something is done with its address. */
export async function withHost(
  { entry }: CompiledHost,
  node: string,
  database: DataSourceOptions,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'test', HOST_DATABASE: JSON.stringify(database) };
  const host = spawn(node, [entry], { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  const ended = new Promise<number | null>((resolve) => host.once('close', resolve));
  const listening = new Promise<string>((resolve) => {
    const read = (chunk: Buffer): void => {
      output += String(chunk);
      const port = /listening (\d+)/.exec(output)?.[1];
      if (port) resolve(`http://127.0.0.1:${port}`);
    };
    host.stdout.on('data', read);
    host.stderr.on('data', read);
  });
  try {
    const early = ended.then((code): never => {
      throw new Error(`The host ended with ${code}`);
    });
    await use(await Promise.race([listening, early]));
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe host printed:\n${output}`, { cause: error });
  } finally {
    host.kill();
    await ended;
  }
}
