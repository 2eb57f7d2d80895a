import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

export const SIZES = { desktop: { width: 1_200, height: 900 }, phone: { width: 390, height: 844 } } as const;

export const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  (['desktop', 'phone'] as const).map((size) => ({ colorScheme, size })),
);

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Loads axe into each page of the context, for `expectAccessible()`. */
export function addAxe(context: BrowserContext): Promise<unknown> {
  return context.addInitScript({ content: AXE });
}

/**
 * Fails if axe finds a violation on the page, or if the page is wider than the screen.
 * @param except a selector of elements that are not checked
 */
export async function expectAccessible(page: Page, except = '.nothing'): Promise<void> {
  // Wait until the colors of buttons have faded in.
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined)))');
  const { violations } = await page.evaluate<{ violations: Finding[] }>(`axe.run({ exclude: ['${except}'] })`);
  const described = violations.map(
    ({ id, impact, nodes }) => `${impact}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
  );
  const isTooWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  expect({ url: page.url(), described, isTooWide }).toEqual({ url: page.url(), described: [], isTooWide: false });
}
