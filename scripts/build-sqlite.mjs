// Runs after an install. Builds better-sqlite3 for versions of Node.js before 22.13, which lack `node:sqlite`.
// `allowScripts` in package.json disables the install script of better-sqlite3, so newer versions of Node.js need
// no compiler.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/better-sqlite3');

if (!isBuiltin('node:sqlite') && existsSync(folder) && !canOpenDatabase()) {
  const { status } = spawnSync('npm run install', { cwd: folder, stdio: 'inherit', shell: true });
  if (status !== 0)
    console.warn(
      'better-sqlite3 could not be built, so SQLite is unavailable. Install a C++ toolchain, or Node.js 22.13 or later.',
    );
}

/** Returns whether better-sqlite3 is built for this version of Node.js. */
function canOpenDatabase() {
  try {
    new (createRequire(import.meta.url)('better-sqlite3'))(':memory:').close();
    return true;
  } catch {
    return false;
  }
}
