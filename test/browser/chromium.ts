import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATH = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';

/** Launches a browser that sends no requests except those of the page. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: PATH,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * `describe`, skipped if Chromium is not installed. `scripts/test.mjs` reports the skipped tests, or fails if
 * Chromium is required.
 */
export const describeInChromium: Pick<jest.Describe, 'each'> & ((title: string, defineTests: () => void) => void) =
  existsSync(PATH) ? describe : describe.skip;
