import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/**
 * Returns the folder of the servers' programs and data: in `XDG_CACHE_HOME`, by default `~/.cache`. The home folder
 * of root is closed to the user as whom the servers run, so the default for root is `/var/cache`.
 */
export function cacheFolder(env = process.env) {
  const parent = env.XDG_CACHE_HOME || (process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache'));
  return resolve(parent, 'nestjs-session-auth', 'databases');
}

/** Creates a folder, unless it exists, that all users can open. */
export function createFolder(folder) {
  const first = mkdirSync(folder, { recursive: true });
  if (first === undefined) return;
  for (let created = folder; created.length >= first.length; created = dirname(created)) chmodSync(created, 0o755);
}

/**
 * Creates a folder, unless it exists, with contents that `fill` writes to a temporary folder. The folder is therefore
 * either absent or complete, also if `fill` fails or runs twice at the same time.
 */
export function createFilled(folder, fill) {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  const temporary = mkdtempSync(`${folder}-`);
  try {
    chmodSync(temporary, 0o755);
    fill(temporary);
    if (!existsSync(folder)) renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
