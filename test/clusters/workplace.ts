import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Teardown } from '../../bench/src/measure/teardown';

/** Where a scenario keeps its data, and what is undone when it ends, whether it succeeds, fails or is interrupted. */
export interface Workplace {
  readonly folder: string;
  readonly teardown: Teardown;
}

export function openWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-clusters-'));
  // The servers run as users of their own.
  chmodSync(folder, 0o755);
  const teardown = new Teardown();
  teardown.add(async () => rmSync(folder, { recursive: true, force: true }));
  return { folder, teardown };
}

export function subfolder({ folder }: Workplace, name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}
