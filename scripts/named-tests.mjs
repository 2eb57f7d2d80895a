// The tests that docs/threats.md and docs/asvs.md name: `path: title` in the last cells of their tables, exactly as the spec
// writes the title. Prints them as JSON. Given the JSON report of a test run, fails where one did not run and pass.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The last column of the tables that name tests, by page. */
const PAGES = { 'docs/threats.md': 'Test', 'docs/asvs.md': 'Shown by' };

/**
 * The rows of the tables that name tests.
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

/** The tests of a cell, and what else is in it but the breaks between them. */
function testsIn(cell) {
  const [tests, malformed] = [[], []];
  for (const part of cell.split('<br>').map((text) => text.trim())) {
    const [, , file, title] = /^(`+)(\S+\.spec\.ts): (.+?)\1$/.exec(part) ?? [];
    if (title) tests.push({ file, title });
    else if (part !== '') malformed.push(part);
  }
  return { tests, malformed };
}

/** Matches the full names of a test, which have values in the places of `%s`, `$name` and `${name}`. */
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
  const lost = named.filter(({ test }) => !hasPassed(report, test));
  for (const { page, subject, test } of lost) {
    console.error(`${page}: "${subject}" names "${test.title}" in ${test.file}, which did not run and pass.`);
  }
  if (lost.length > 0) process.exitCode = 1;
  else
    console.log(`${Object.keys(PAGES).join(', ')}: ${named.length} tests are named, and all of them ran and passed.`);
}

const [, , reportFile] = process.argv;
if (reportFile) check(JSON.parse(readFileSync(reportFile, 'utf8')));
else console.log(JSON.stringify(namedTests()));
