import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '../../scripts/lint-prose.mjs');
const folder = mkdtempSync(join(tmpdir(), 'prose-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Checks a file. Returns its reports without the path, up to the replacement. */
function reportsOn(name: string, ...lines: string[]): string[] {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, file], { encoding: 'utf8' });
  const reports = stderr.split('\n').filter((line) => line.includes(name));
  expect(status === 0).toBe(reports.length === 0);
  return reports.map((line) => line.slice(line.indexOf(name) + name.length + 1));
}

it('the prose check reports a phrase in a document with its line and its replacement, except in its exceptions', () => {
  const accepted = ['The `Host` header has the host name.', 'Clients can tell them apart.', 'A unit of work commits.'];
  expect(reportsOn('words.md', ...accepted)).toEqual([]);
  expect(reportsOn('guide.md', '# Guide', '', 'Install it in the Host.', 'Users are told so.')).toEqual([
    expect.stringMatching(/^3: "the Host"; write "application"/),
    expect.stringMatching(/^4: "told"; write "report"/),
  ]);
});

it('the prose check reports phrases in comments, in text and in renamed identifiers, but not in other identifiers', () => {
  const comments = ['/**', ' * Starts the', ' * host.', ' */', 'export const start = 1; // for every host'];
  const text = ["it('a unit is stored', () => `${start} were told`);"];
  const names = ["import { told } from './told';", 'const host = told();', 'host.noticeOver();', 'export { host };'];
  expect(reportsOn('titles.ts', ...comments, ...text, ...names).map((line) => line.split('; write')[0])).toEqual([
    ...['2: "the host"', '5: "every host"', '6: "a unit"', '6: "told"', '9: "noticeOver"'],
  ]);
});
