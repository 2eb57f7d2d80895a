import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';

const PATH = process.env['CHROMIUM_PATH'] || '/usr/bin/chromium';

/** A browser that asks nobody for anything but the page. */
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

/** Skipped, and listed as such, where there is no Chromium; `scripts/test.mjs` says so in a line, or fails where it is required. */
export const describeInChromium: Pick<jest.Describe, 'each'> & ((title: string, tell: () => void) => void) = existsSync(
  PATH,
)
  ? describe
  : describe.skip;
