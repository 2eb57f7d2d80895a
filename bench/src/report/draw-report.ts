import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../results';
import { composeReport } from './compose-report';

const DOCS = join(__dirname, '../../../docs');

/** Where the report stands. */
export const DOCUMENT = join(DOCS, 'performance.md');
export const PLOTS = join(DOCS, 'performance');

/** Draws bench/results/latest.json into docs/performance.md, between the markers; all around them is written by hand. */
export function drawReport(): void {
  const { document, plots } = composeReport(readResults(), readFileSync(DOCUMENT, 'utf8'));
  rmSync(PLOTS, { recursive: true, force: true });
  mkdirSync(PLOTS, { recursive: true });
  for (const [name, svg] of plots) writeFileSync(join(PLOTS, `${name}.svg`), svg);
  writeFileSync(DOCUMENT, document);
}
