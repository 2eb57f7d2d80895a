import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const SCRIPT = join(ROOT, 'scripts/named-tests.mjs');

interface NamingRow {
  readonly page: string;
  readonly subject: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  readonly malformed: readonly string[];
}

const rows = JSON.parse(execFileSync(process.execPath, [SCRIPT], { encoding: 'utf8' })) as NamingRow[];
const tests = rows.flatMap((row) => row.tests.map((test) => ({ page: row.page, ...test })));

/** Returns whether a source file contains the text as a complete string literal. */
function hasLiteral(file: string, text: string): boolean {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(quote + text.replaceAll(quote, `\\${quote}`) + quote));
}

describe('the tests that docs/threats.md and docs/asvs.md name', () => {
  it.each(tests)('$file contains the test "$title" that $page names', ({ file, title }) => {
    expect(existsSync(join(ROOT, file)) && hasLiteral(file, title)).toBe(true);
  });

  it('every reference to a test consists of a file and a title', () => {
    expect(rows.filter(({ malformed }) => malformed.length > 0)).toEqual([]);
  });

  it('every attack in docs/threats.md names at least one test', () => {
    const untested = rows.filter((row) => row.page === 'docs/threats.md' && row.tests.length === 0);
    expect(untested.map(({ subject }) => subject)).toEqual([]);
  });

  it('docs/threats.md names tests in more than 80 rows, and docs/asvs.md in more than 60', () => {
    const rowsOf = (page: string) => rows.filter((row) => row.page === page && row.tests.length > 0);
    expect(rowsOf('docs/threats.md').length).toBeGreaterThan(80);
    expect(rowsOf('docs/asvs.md').length).toBeGreaterThan(60);
  });
});
