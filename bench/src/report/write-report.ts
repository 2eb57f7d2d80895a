import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../results';
import { composeReport } from './compose-report';

export const DOCUMENT = join(__dirname, '../../../docs/performance.md');

/** Writes the figures of bench/results/latest.json into docs/performance.md, between its markers. */
export function writeReport(): void {
  writeFileSync(DOCUMENT, composeReport(readResults(), readFileSync(DOCUMENT, 'utf8')));
}
