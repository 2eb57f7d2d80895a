import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANGES_OF_NODES, CHANGES_OF_PRIMARY, galeraCheck, postgresCheck } from '../clusters/checks';

const page = readFileSync(join(__dirname, '../../docs/high-availability.md'), 'utf8');

/** The lines of an entry of HAProxy in the page. */
function entry(name: string): string[] {
  const block = page.split(`\`\`\`text\nlisten ${name}\n`)[1]!.split('```')[0]!;
  return block.split('\n').map((line) => line.trim());
}

describe('the configuration of HAProxy in docs/high-availability.md', () => {
  it.each([
    ['postgres', postgresCheck(), CHANGES_OF_PRIMARY],
    ['galera', galeraCheck(), CHANGES_OF_NODES],
  ])('is what the cluster suite runs for %s', (name, check, changes) => {
    const lines = entry(name);
    expect(lines).toEqual(expect.arrayContaining([...check, `default-server ${changes}`]));
  });
});
