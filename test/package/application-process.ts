import { spawn } from 'node:child_process';
import type { DataSourceOptions } from 'typeorm';
import type { CompiledApplication } from './compile';
import { whileListening } from './listening';

/** Starts an application, calls `use` with its URL, and stops it. */
export function withApplication(
  { entry }: CompiledApplication,
  node: string,
  database: DataSourceOptions,
  use: (url: string) => Promise<void>,
  more: NodeJS.ProcessEnv = {},
): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'test', APPLICATION_DATABASE: JSON.stringify(database), ...more };
  const application = spawn(node, [entry], { stdio: ['ignore', 'pipe', 'pipe'], env });
  return whileListening(application, /listening (\d+)/, (port) => use(`http://127.0.0.1:${port}`));
}
