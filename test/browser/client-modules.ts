import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | null = null;

/** Compiles the published ES modules of the client, once for the tests of a file. */
export function clientModules(): string {
  if (folder === null) {
    folder = mkdtempSync(join(tmpdir(), 'nsa-client-'));
    execFileSync(process.execPath, [join(__dirname, '../../scripts/build-client.mjs'), folder]);
  }
  return join(folder, 'esm');
}

afterAll(() => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});
