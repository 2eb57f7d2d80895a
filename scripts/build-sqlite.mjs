// After an install: builds better-sqlite3 where this Node has no `node:sqlite`, so before 22.13. Newer ones need no compiler.
// The package's own install script does not run, by `allowScripts` in package.json.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '../node_modules/better-sqlite3');

if (!isBuiltin('node:sqlite') && existsSync(folder) && !works()) {
  const { status } = spawnSync('npm run install', { cwd: folder, stdio: 'inherit', shell: true });
  if (status !== 0) console.warn('better-sqlite3 could not be built: only PostgreSQL, MariaDB and MySQL can be used.');
}

/** Whether it is there, built for this Node. */
function works() {
  try {
    new (createRequire(import.meta.url)('better-sqlite3'))(':memory:').close();
    return true;
  } catch {
    return false;
  }
}
