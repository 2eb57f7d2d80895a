import { accessSync, constants } from 'node:fs';

/** The path of Chromium in Debian's package. */
const DEFAULT_PATH = '/usr/bin/chromium';

/**
 * Returns CHROMIUM_PATH or the default path of Chromium, or null if Chromium is not installed or CHROMIUM_PATH is
 * `none`.
 */
export function chromiumPath(env = process.env) {
  const path = env.CHROMIUM_PATH || DEFAULT_PATH;
  if (path === 'none') return null;
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
