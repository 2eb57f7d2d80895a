import { accessSync, constants } from 'node:fs';

/** Debian's place for it. */
const USUAL = '/usr/bin/chromium';

/** Where Chromium is: what CHROMIUM_PATH names, or the usual place; null where there is none, or it is not wanted (`none`). */
export function chromiumPath(env = process.env) {
  const path = env.CHROMIUM_PATH || USUAL;
  if (path === 'none') return null;
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return null;
  }
}
