import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machine, versions } from '../../bench/src/measure/machine';
import { render, type Result } from './table';

const PAGE = join(__dirname, '../../docs/reliability.md');
const BETWEEN = /(<!-- written by npm run clusters -- --write -->\n)[^]*(<!-- until here -->)/;

/**
 * Writes the figures between the markers of the page.
 *
 * @param all the number of scenarios of the suite
 */
export function writePage(results: readonly Result[], times: number, all: number): void {
  const page = readFileSync(PAGE, 'utf8');
  if (!BETWEEN.test(page)) throw new Error('docs/reliability.md has lost its markers.');
  const { processor, cores, memoryGiB } = machine();
  const { node, postgres, mariadb, pgbouncer } = versions();
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(new Date());
  const number = results.length < all ? `${results.length} of the ${all} scenarios` : `All ${all} scenarios`;
  const uses = (part: string): boolean => results.some(({ scenario: { name } }) => name.includes(part));
  const others = [
    ...(uses('pgbouncer') ? [`PgBouncer ${pgbouncer}, `] : []),
    ...(uses('patroni-') ? ['Patroni, '] : []),
    ...(uses('group-') ? ['MySQL 9 with Group Replication, '] : []),
  ].join('');
  const text = `${number} on ${day}, the worst of ${times} runs. Node ${node}, PostgreSQL ${postgres}, MariaDB ${mariadb} with Galera,
${others}all on one machine: ${processor}, ${cores} cores, ${memoryGiB} GiB.

${render(results)}
`;
  writeFileSync(
    PAGE,
    page.replace(BETWEEN, (_, begin: string, end: string) => `${begin}\n${text}\n${end}`),
  );
}
