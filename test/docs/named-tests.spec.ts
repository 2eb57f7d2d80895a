import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

/** A result as Jest reports it. */
interface Result {
  fullName: string;
  status: string;
}

const FILE = 'test/base/failure-report.spec.ts';
const TITLE = 'contains no line breaks from an error message, which could forge log lines';

it.each<[string, (results: Map<string, Result[]>, one: Result) => void]>([
  ['did not run', (results) => results.delete(FILE)],
  ['was skipped', (_, one) => (one.status = 'pending')],
  ['failed on another database', (results, one) => results.get(FILE)!.push({ ...one, status: 'failed' })],
  ['has another title', (_, one) => (one.fullName = 'contains no line breaks')],
  ['is in another file', (results, one) => results.set(FILE, []).set('test/login/login.spec.ts', [one])],
])('the check of named tests passes if each of them passed, and fails if one %s', (_, change) => {
  const results = new Map<string, Result[]>();
  for (const { file, title } of tests) {
    const fullName = `on sqlite ${title.replaceAll(/%(\.\d+)?\w|\$\{?\w+\}?/g, 'a value')}`;
    const others = (results.get(file) ?? []).filter((one) => one.fullName !== fullName);
    results.set(file, [...others, { fullName, status: 'passed' }]);
  }
  const folder = mkdtempSync(join(tmpdir(), 'nsa-report-'));
  const check = (): [number | null, string] => {
    const testResults = [...results].map(([file, assertionResults]) => ({ name: `/x/${file}`, assertionResults }));
    const report = join(folder, 'report.json');
    writeFileSync(report, JSON.stringify({ testResults }));
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, report], { encoding: 'utf8' });
    return [status, stderr];
  };
  expect(check()).toEqual([0, '']);
  change(
    results,
    results.get(FILE)!.find(({ fullName }) => fullName.endsWith(TITLE))!,
  );
  const problem = expect.stringContaining(`names "${TITLE}" in ${FILE}, which was not run or did not pass.`);
  expect(check()).toEqual([1, problem]);
  rmSync(folder, { recursive: true });
});
