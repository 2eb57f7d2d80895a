import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANGES_OF_NODES, CHANGES_OF_PRIMARY, galeraCheck, postgresCheck } from '../clusters/checks';

const page = readFileSync(join(__dirname, '../../docs/high-availability.md'), 'utf8');

/** Returns the lines of a `listen` section of the HAProxy configuration. */
function listenSection(name: string): string[] {
  const block = page.split(`\`\`\`text\nlisten ${name}\n`)[1]!.split('```')[0]!;
  return block.split('\n').map((line) => line.trim());
}

describe('the configuration of HAProxy in docs/high-availability.md', () => {
  it.each([
    ['postgres', postgresCheck(), CHANGES_OF_PRIMARY],
    ['galera', galeraCheck(), CHANGES_OF_NODES],
  ])(
    'the HAProxy health check and default-server line in the guide equal those of the cluster tests for %s',
    (name, check, changes) => {
      const lines = listenSection(name);
      expect(lines).toEqual(expect.arrayContaining([...check, `default-server ${changes}`]));
    },
  );
});
