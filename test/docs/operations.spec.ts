import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { METRICS } from '../../libs/auth/src/domain/metrics';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const guide = read('docs/operations.md');
/** The literals of a union or of an object's type in the table of metrics. */
const literals = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(([, word]) => word!);

describe('the guide to operations', () => {
  const rows = [...guide.matchAll(/^\| `(session_auth\.[\w.]+)` \| (\w+) \| `([^`]+)` \|[^|]*\| ([^|]*?) \|$/gm)];

  it('lists the metrics that there are, with their units', () => {
    const told = rows.map(([, name, kind, unit, description]) => ({ name, kind, unit, description }));
    const measured = Object.entries(METRICS).map(([name, { kind, unit, description }]) => ({
      name,
      kind,
      unit,
      description,
    }));
    expect(told).toEqual(measured);
  });

  it('names the values of the attributes', () => {
    const source = read('libs/auth/src/domain/metrics.ts');
    for (const type of ['PruneKind', 'FailureKind']) {
      const values = literals(source.split(`export type ${type} =`)[1]!.split(';')[0]!);
      expect(values.length).toBeGreaterThan(3);
      for (const value of values) expect(guide).toContain(`\`${value}\``);
    }
    for (const [, attribute] of source.matchAll(/^ {2}readonly '([\w.]+)'\?:/gm)) {
      expect(guide).toContain(`\n| \`${attribute}\` |`);
    }
  });
});
