import { spawn } from 'node:child_process';
import type { DataSourceOptions } from 'typeorm';
import type { CompiledHost } from './compile';
import { whileListening } from './listening';

/** Runs a host while something is done with its address. */
export function withHost(
  { entry }: CompiledHost,
  node: string,
  database: DataSourceOptions,
  use: (url: string) => Promise<void>,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'test', HOST_DATABASE: JSON.stringify(database), ...more };
  const host = spawn(node, [entry], { stdio: ['ignore', 'pipe', 'pipe'], env });
  return whileListening(host, /listening (\d+)/, (port) => use(`http://127.0.0.1:${port}`));
}
