import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
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
