// Prints the tests that docs/threats.md and docs/asvs.md name, as JSON. The last column of the tables names them
// as `path: title`, with the title exactly as in the spec. With the path of Jest's JSON report as the argument,
// the script fails if one of these tests did not run and pass.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The title of the column that names tests, by page. */
const PAGES = { 'docs/threats.md': 'Test', 'docs/asvs.md': 'Shown by' };

/**
 * Returns the rows of the tables that name tests.
 * @returns {{ page: string, subject: string, tests: { file: string, title: string }[], malformed: string[] }[]}
 */
function namedTests() {
  return Object.entries(PAGES).flatMap(([page, column]) => rowsOf(page, column));
}

function rowsOf(page, column) {
  const rows = [];
  let isNamingTests = false;
  for (const line of readFileSync(join(root, page), 'utf8').split('\n')) {
    if (!line.startsWith('|')) {
      isNamingTests = false;
      continue;
    }
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
    const [subject, last] = [cells[1], cells.at(-2)];
    if (last === column) isNamingTests = true;
    else if (isNamingTests && !/^[-: ]+$/.test(last)) rows.push({ page, subject, ...testsIn(last) });
  }
  return rows;
}

/** Returns the tests that a cell names, and its malformed parts. */
function testsIn(cell) {
  const [tests, malformed] = [[], []];
  for (const part of cell.split('<br>').map((text) => text.trim())) {
    const [, , file, title] = /^(`+)(\S+\.spec\.ts): (.+?)\1$/.exec(part) ?? [];
    if (title) tests.push({ file, title });
    else if (part !== '') malformed.push(part);
  }
  return { tests, malformed };
}

/** Returns a pattern for the full names of a test, which contain values in place of `%s`, `$name` and `${name}`. */
function patternOf(title) {
  const parts = title.split(/%(?:\.\d+)?[a-zA-Z#]|\$\{[^}]*\}|\$[\w.#]+/);
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(?:^| )${escaped.join('.*')}(?: |$)`, 's');
}

function hasPassed(report, { file, title }) {
  const pattern = patternOf(title);
  const results = report.testResults
    .filter(({ name }) => name.endsWith(`/${file}`))
    .flatMap(({ assertionResults }) => assertionResults.filter(({ fullName }) => pattern.test(fullName)));
  return results.length > 0 && results.every(({ status }) => status === 'passed');
}

function check(report) {
  const named = namedTests().flatMap(({ page, subject, tests }) => tests.map((test) => ({ page, subject, test })));
  const failed = named.filter(({ test }) => !hasPassed(report, test));
  for (const { page, subject, test } of failed) {
    console.error(`${page}: "${subject}" names "${test.title}" in ${test.file}, which was not run or did not pass.`);
  }
  if (failed.length > 0) process.exitCode = 1;
  else
    console.log(`${Object.keys(PAGES).join(', ')}: ${named.length} tests are named, and all of them ran and passed.`);
}

const [, , reportFile] = process.argv;
if (reportFile) check(JSON.parse(readFileSync(reportFile, 'utf8')));
else console.log(JSON.stringify(namedTests()));
