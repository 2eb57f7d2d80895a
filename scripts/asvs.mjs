// Reads the tests that docs/asvs.md names. Run with the JSON report of a test run, it fails where one did not run and pass.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** @returns {{ requirement: string, file: string, title: string }[]} */
export function namedTests() {
  const rows = readFileSync(join(root, 'docs/asvs.md'), 'utf8').split('\n');
  return rows
    .map((row) => /^\| (\d[\d., ]*) \|.*\| `(\S+): ?([^`]*)` \|$/.exec(row))
    .filter((found) => found !== null)
    .map(([, requirement, file, title]) => ({ requirement, file, title }));
}

function main(reportFile) {
  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const passed = (file, title) =>
    report.testResults.some(
      ({ name, assertionResults }) =>
        name.endsWith(`/${file}`) &&
        assertionResults.some(({ status, fullName }) => status === 'passed' && fullName.includes(title)),
    );
  const named = namedTests();
  const lost = named.filter(({ file, title }) => !passed(file, title));
  for (const { requirement, file, title } of lost) {
    console.error(`docs/asvs.md: ${requirement} names "${title}" in ${file}, which did not run and pass.`);
  }
  if (named.length === 0) console.error('docs/asvs.md names no test.');
  process.exitCode = lost.length > 0 || named.length === 0 ? 1 : 0;
  if (process.exitCode === 0)
    console.log(`docs/asvs.md: ${named.length} tests are named, and all of them ran and passed.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(process.argv[2] ?? '')) throw new Error('Give the JSON report of a test run.');
  main(process.argv[2]);
}
