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

/** Whether a source file has the text as a whole literal. */
function hasLiteral(file: string, text: string): boolean {
  const source = readFileSync(join(ROOT, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(quote + text.replaceAll(quote, `\\${quote}`) + quote));
}

describe('the tests that docs/threats.md and docs/asvs.md name', () => {
  it.each(tests)('$page: "$title" is a test in $file', ({ file, title }) => {
    expect(existsSync(join(ROOT, file)) && hasLiteral(file, title)).toBe(true);
  });

  it('are written as file and title', () => {
    expect(rows.filter(({ malformed }) => malformed.length > 0)).toEqual([]);
  });

  it('are there for every attack', () => {
    const untested = rows.filter((row) => row.page === 'docs/threats.md' && row.tests.length === 0);
    expect(untested.map(({ subject }) => subject)).toEqual([]);
  });

  it.each([
    ['docs/threats.md', 80],
    ['docs/asvs.md', 60],
  ])('are found in %s in more than %i rows', (page, count) => {
    expect(rows.filter((row) => row.page === page).length).toBeGreaterThan(count);
  });
});

describe('the check of a test run', () => {
  /** A result as Jest reports it. */
  interface Result {
    fullName: string;
    status: string;
  }

  let work: string;
  beforeAll(() => void (work = mkdtempSync(join(tmpdir(), 'nsa-report-'))));
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  /** The exit status and errors of the check of a report in which each named test passed, unless it is changed. */
  function check(change: (results: Map<string, Result[]>) => void = () => undefined): [number | null, string] {
    const results = new Map<string, Result[]>();
    for (const { file, title } of tests) {
      const fullName = `on sqlite ${title.replaceAll(/%(\.\d+)?\w|\$\{?\w+\}?/g, 'a value')}`;
      results.set(file, [...(results.get(file) ?? []), { fullName, status: 'passed' }]);
    }
    change(results);
    const testResults = [...results].map(([file, assertionResults]) => ({ name: `/x/${file}`, assertionResults }));
    const report = join(work, 'report.json');
    writeFileSync(report, JSON.stringify({ testResults }));
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, report], { encoding: 'utf8' });
    return [status, stderr];
  }

  const FILE = 'test/security/guessing.spec.ts';
  const LOST =
    'names "are not forgotten when the guesser logs in under another name" in test/security/guessing.spec.ts';

  it('passes where each named test ran and passed', () => {
    expect(check()).toEqual([0, '']);
  });

  it.each<[string, (results: Map<string, Result[]>) => void]>([
    ['did not run', (results) => results.delete(FILE)],
    ['failed', (results) => (results.get(FILE)![0]!.status = 'failed')],
    ['was skipped', (results) => (results.get(FILE)![0]!.status = 'pending')],
    [
      'failed on one of the databases',
      (results) => results.get(FILE)!.push({ ...results.get(FILE)![0]!, status: 'failed' }),
    ],
    ['has another title', (results) => (results.get(FILE)![0]!.fullName = 'on sqlite are not forgotten')],
    ['is in another file', (results) => results.set('test/e2e/login.spec.ts', results.get(FILE)!).delete(FILE)],
  ])('fails where a named test %s', (_, change) => {
    const [status, errors] = check(change);
    expect(status).toBe(1);
    expect(errors).toContain(`${LOST}, which did not run and pass.`);
  });
});
