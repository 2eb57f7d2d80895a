import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '../../scripts/lint-prose.mjs');
const folder = mkdtempSync(join(tmpdir(), 'prose-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Checks a file. Returns whether the check failed and its reports without the path. */
function reportOn(name: string, ...lines: string[]): { failed: boolean; reports: string[] } {
  const file = join(folder, name);
  writeFileSync(file, lines.join('\n'));
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, file], { encoding: 'utf8' });
  const reports = stderr.split('\n').filter((line) => line.includes(name));
  return { failed: status !== 0, reports: reports.map((line) => line.slice(line.indexOf(name) + name.length + 1)) };
}

describe('scripts/lint-prose.mjs', () => {
  it('the prose check reports a phrase in a document with its line and its replacement', () => {
    const { failed, reports } = reportOn('guide.md', '# Guide', '', 'Install it in the Host.', 'Users are told so.');
    expect(failed).toBe(true);
    expect(reports).toEqual([
      expect.stringMatching(/^3: "the Host"; write "application"/),
      expect.stringMatching(/^4: "told"; write "report"/),
    ]);
  });

  it('the prose check accepts a phrase in its exceptions', () => {
    const lines = [
      'The `Host` header has the host name.',
      'Clients can tell the two apart.',
      'A unit of work commits.',
    ];
    expect(reportOn('words.md', ...lines)).toEqual({ failed: false, reports: [] });
  });

  it('the prose check reports phrases in comments, across line breaks, in string literals and in templates', () => {
    const { reports } = reportOn(
      'titles.ts',
      '/**',
      ' * Starts the',
      ' * host.',
      ' */',
      'export const start = 1; // for every host',
      "it('a unit is stored', () => `${start} were told`);",
    );
    expect(reports.map((line) => line.split(';')[0])).toEqual([
      '2: "the host"',
      '5: "every host"',
      '6: "a unit"',
      '6: "told"',
    ]);
  });

  it('the prose check ignores identifiers and module names, except for renamed identifiers', () => {
    const lines = ["import { told } from './told';", 'const host = told();', 'host.noticeOver();', 'export { host };'];
    expect(reportOn('names.ts', ...lines).reports).toEqual(['3: "noticeOver"; write expireSessions']);
  });
});
