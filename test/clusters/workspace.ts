import { randomInt } from 'node:crypto';
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListening } from '../support/port';
import { Teardown } from '../../bench/src/measure/teardown';

/** The id of the user `nobody` and its group, who run the servers if this process is root. */
export const NOBODY = process.getuid?.() === 0 ? 65_534 : null;

/** The data folder and the ports of a scenario, and its teardown, which runs even if the scenario is interrupted. */
export class Workspace {
  readonly folder = giveAway(mkdtempSync(join(realpathSync(tmpdir()), 'nsa-clusters-')));
  readonly teardown = new Teardown();

  private constructor(private lastPort: number) {
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
    return giveAway(path);
  }
}

/** Makes the user that runs the servers the owner of a new folder. */
function giveAway(folder: string): string {
  if (NOBODY) chownSync(folder, NOBODY, NOBODY);
  return folder;
}
