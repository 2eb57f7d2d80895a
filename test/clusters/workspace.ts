import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Teardown } from '../../bench/src/measure/teardown';

/** The data folder of a scenario, and its teardown, which runs when the scenario succeeds, fails or is interrupted. */
export interface Workspace {
  readonly folder: string;
  readonly teardown: Teardown;
}

export function openWorkspace(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-clusters-'));
  // Each server runs as its own operating system user and must be able to enter the folder.
  chmodSync(folder, 0o755);
  const teardown = new Teardown();
  teardown.add(async () => rmSync(folder, { recursive: true, force: true }));
  return { folder, teardown };
}

export function subfolder({ folder }: Workspace, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

const taken = new Set<number>();

/**
 * Returns a free port of the loopback interface, below the range of outgoing connections. The port of a killed
 * server is therefore still free when the server restarts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (!taken.has(port) && (await isFree(port))) {
      taken.add(port);
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
