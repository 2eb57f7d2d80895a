import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../libs/auth/src/base/telemetry';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const guide = read('docs/operations.md');
/** Returns the string literals of a union type. */
const literals = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(([, word]) => word!);

describe('docs/operations.md', () => {
  const rows = [...guide.matchAll(/^\| `(session_auth\.[\w.]+)` \| (\w+) \| `([^`]+)` \|[^|]*\| ([^|]*?) \|$/gm)];

  it('docs/operations.md lists every metric with its kind, unit and description', () => {
    const listed = rows.map(([, name, kind, unit, description]) => ({ name, kind, unit, description }));
    const measured = Object.entries(METRICS).map(([name, { kind, unit, description }]) => ({
      name,
      kind,
      unit,
      description,
    }));
    expect(listed).toEqual(measured);
  });

  it('docs/operations.md contains every metric attribute, and every kind of pruning and of database failure', () => {
    const source = read('libs/auth/src/base/telemetry.ts');
    for (const type of ['PruneKind', 'FailureKind', 'NotWritableKind']) {
      const values = literals(source.split(`export type ${type} =`)[1]!.split(';')[0]!);
      expect(values.length).toBeGreaterThanOrEqual(3);
      for (const value of values) expect(guide).toContain(`\`${value}\``);
    }
    for (const [, attribute] of source.matchAll(/^ {2}readonly '([\w.]+)'\?:/gm)) {
      expect(guide).toContain(`\n| \`${attribute}\` |`);
    }
  });
});
