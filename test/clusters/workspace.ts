import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListening } from '../support/port';
import { Teardown } from '../../bench/src/measure/teardown';

/** The id of the user `nobody` and its group, who run the servers if this process is root. */
export const NOBODY = process.getuid?.() === 0 ? 65_534 : null;

/** The data folder and the ports of a scenario, and its teardown, which runs even if the scenario is interrupted. */
export class Workspace {
  readonly folder = mkdtempSync(join(realpathSync(tmpdir()), 'nsa-clusters-'));
  readonly teardown = new Teardown();
  private constructor(private lastPort: number) {
    // Another user must be able to enter the folder.
    chmodSync(this.folder, 0o755);
    this.teardown.add(async () => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Chooses free ports below the range of outgoing connections, so that a killed server can listen again. */
  static async open(): Promise<Workspace> {
    for (;;) {
      const last = randomInt(20_000, 32_000);
      const ports = Array.from({ length: 20 }, (_, index) => last + 1 + index);
      if (!(await Promise.all(ports.map(isListening))).includes(true)) return new Workspace(last);
    }
  }

  freePort(): number {
    return ++this.lastPort;
  }

  subfolder(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { mode: 0o700 });
    giveAway(path);
    return path;
  }
}

/** Changes the owner of a folder and its contents to the user that runs the servers. */
export function giveAway(folder: string): void {
  if (NOBODY) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder]);
}
