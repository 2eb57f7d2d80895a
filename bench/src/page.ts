import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AIMS, isMet } from './aims';
import type { Figure, Unit } from './measure/part';
import { PART_NAMES, type Results } from './results';

export const PAGE = join(__dirname, '../../docs/performance.md');

const DATABASES = { postgres: 'PostgreSQL', mariadb: 'MariaDB', mysql9: 'MySQL 9', sqlite: 'SQLite' };

export function writePage(results: Results): void {
  writeFileSync(PAGE, pageOf(results, readFileSync(PAGE, 'utf8')));
}

/** Replaces the figures between the markers of the page, and keeps the rest. */
export function pageOf(results: Results, page: string): string {
  const sections = { aims: aimsOf(results), conditions: conditionsOf(results) };
  const parts = PART_NAMES.map((name): [string, string] => [name, tablesOf(results.parts[name])]);
  return [...Object.entries(sections), ...parts].reduce((text, [name, section]) => {
    const markers = new RegExp(`(<!-- bench:${name} -->\n)[^]*?(<!-- /bench -->)`);
    if (!markers.test(text)) throw new Error(`docs/performance.md has no marker bench:${name}.`);
    return text.replace(markers, (_, start: string, end: string) => `${start}\n${section}\n\n${end}`);
  }, page);
}

function aimsOf({ parts }: Results): string {
  const figures = Object.values(parts).flat();
  const rows = AIMS.map((aim) => {
    const { name, database, atLeast, atMost } = aim;
    const found = figures.find((one) => one.name === name && one.database === database);
    const wanted = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`;
    const verdict = found ? (isMet(aim, found) ? 'met' : '**missed**') : 'not measured';
    const unit = found?.unit === 'milliseconds' ? ' ms' : '';
    return [name, DATABASES[database], `${wanted}${unit}`, found ? cell(found) : '', verdict];
  });
  return table(['Figure', 'Database', 'Aim', 'Measured', 'Result'], rows);
}

function conditionsOf({ at, machine, versions, command, rounds, seconds }: Results): string {
  const { processor, cores, memoryGiB, system } = machine;
  return [
    `Measured on ${at.slice(0, 10)} with \`${command}\`: medians of ${rounds} rounds of ${seconds} s each, with their`,
    `95 % confidence intervals. ${processor}, ${cores} cores, ${memoryGiB} GiB of memory, ${system}.`,
    Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
  ].join('\n');
}

/** Returns one table per unit, with a column for each database. */
function tablesOf(figures: readonly Figure[]): string {
  const units = [...new Set(figures.map(({ unit }) => unit))];
  return units.map((unit) => tableOf(figures, unit)).join('\n\n');
}

function tableOf(all: readonly Figure[], unit: Unit): string {
  const figures = all.filter((one) => one.unit === unit);
  const databases = [...new Set(figures.map(({ database }) => database))];
  const names = [...new Set(figures.map(({ name }) => name))];
  const head = [`${unit[0]!.toUpperCase()}${unit.slice(1)}`, ...databases.map((one) => DATABASES[one])];
  const rows = names.map((name) => {
    const of = databases.map((database) => figures.find((one) => one.name === name && one.database === database));
    return [name, ...of.map((found) => (found ? cell(found) : ''))];
  });
  return table(head, rows);
}

function cell({ median, low, high }: Figure): string {
  return low === high ? digits(median) : `${digits(median)} (${digits(low)} to ${digits(high)})`;
}

/** Formats a number: as a whole number from 100 on, and with three significant digits below. */
function digits(value: number): string {
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-GB') : String(Number(value.toPrecision(3)));
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
