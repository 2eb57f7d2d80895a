import { parseArgs } from 'node:util';
import { DATABASES as AVAILABLE } from '../../test/support/databases';
import { MEASUREMENTS, type Measurement } from './compare/measurements';
import { CONTENDERS, type ContenderName } from './contenders/contender';
import { LOAD_TOOLS, type LoadTool } from './load/load';

const DATABASE_NAMES = ['postgres', 'mariadb', 'mysql9', 'sqlite'] as const;

export type DatabaseName = (typeof DATABASE_NAMES)[number];

/** How long to measure. */
export interface Effort {
  readonly rounds: number;
  /** The duration of a measurement in a round. */
  readonly seconds: number;
}

/** The settings of the benchmark. `HELP` describes them. */
export interface Settings extends Effort {
  readonly databases: readonly DatabaseName[];
  readonly contenders: readonly ContenderName[];
  readonly connections: readonly number[];
  readonly clients: readonly number[];
  readonly warmupSeconds: number;
  readonly users: number;
  readonly load: LoadTool;
  readonly only: readonly Measurement[];
}

export const HELP = `npm run bench                      runs every part, then writes the figures and docs/performance.md
npm run bench -- quick             runs every part on PostgreSQL in about five minutes, and prints the figures
npm run bench -- <part> [options]  runs one part, and prints its figures
npm run bench -- page              writes docs/performance.md from the figures in bench/results/latest.json
npm run bench -- compare <tarball> <tarball>
                                   compares two versions of the library, packed with npm pack, and prints the ratios
                                   of the second version to the first. Logins hash with CheapPasswordHasher of
                                   nestjs-session-auth/testing, which both versions must export

Parts
  guard    a guarded route, compared with an unguarded one and with other guards
  refresh  refreshes, compared with one prepared UPDATE and its commit
  login    logins and failed logins, compared with the bare password hash
  start    the start of the module and the import of the package. Run npm run build first
  memory   the heap, while many users send requests

Options with their defaults (in parentheses those of quick). Separate the values of a list by commas.
  --databases    postgres,mariadb,mysql9,sqlite (postgres)  databases, as far as they are available. The parts guard,
                                                   start and memory use the first one
  --contenders   ${CONTENDERS.join(',')}
  --connections  1,8,32 (1,32)                     concurrent connections of the guarded routes
  --clients      1,8,32,128 (1,32)                 concurrent clients that refresh
  --rounds       15 (5)                            each round measures everything once, in random order
  --seconds      1                                 duration of a measurement in a round (compare: 2)
  --warmup       5 (1)                             seconds before the first measurement of a process (compare: 1, before each)
  --users        10000 (1000)                      users that send requests (memory)
  --load         wrk                               load tool: wrk, or node, which needs more processor time (compare: node)
  --only         ${MEASUREMENTS.join(',').padEnd(34)}measurements (compare)

Set TEST_POSTGRES_URL and the like to servers on which the benchmark may create databases. It drops them at the end.`;

const FLAGS = {
  databases: DATABASE_NAMES.join(','),
  contenders: CONTENDERS.join(','),
  connections: '1,8,32',
  clients: '1,8,32,128',
  rounds: '15',
  seconds: '1',
  warmup: '5',
  users: '10000',
  load: 'wrk',
  only: MEASUREMENTS.join(','),
};

const QUICK = { databases: 'postgres', connections: '1,32', clients: '1,32', rounds: '5', warmup: '1', users: '1000' };

/** Other defaults, by the first word of the command line. wrk cannot send the bodies of the compared requests. */
const DEFAULTS: Readonly<Record<string, Partial<typeof FLAGS>>> = {
  quick: QUICK,
  compare: { seconds: '2', warmup: '1', load: 'node' },
};

export interface Command {
  /** A part, or `all`, `quick`, `page` or `compare`. */
  readonly name: string;
  /** The arguments after the name. */
  readonly operands: readonly string[];
  readonly isHelp: boolean;
  readonly settings: Settings;
}

/** Parses the command line. */
export function readCommand(args: readonly string[]): Command {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean' as const } },
  });
  const [name = 'all', ...operands] = positionals;
  const given = { ...FLAGS, ...DEFAULTS[name], ...(values as Partial<typeof FLAGS>) };
  const settings = {
    databases: oneOrMore(given.databases, DATABASE_NAMES, '--databases').filter((one) => AVAILABLE.includes(one)),
    contenders: oneOrMore(given.contenders, CONTENDERS, '--contenders'),
    connections: numbers(given.connections, '--connections'),
    clients: numbers(given.clients, '--clients'),
    rounds: number(given.rounds, '--rounds'),
    seconds: number(given.seconds, '--seconds'),
    warmupSeconds: number(given.warmup, '--warmup'),
    users: number(given.users, '--users'),
    load: oneOrMore(given.load, LOAD_TOOLS, '--load')[0]!,
    only: oneOrMore(given.only, MEASUREMENTS, '--only'),
  };
  return { name, operands, isHelp: values['help'] === true, settings };
}

function oneOrMore<Name extends string>(list: string, known: readonly Name[], flag: string): Name[] {
  return list.split(',').map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new Error(`${flag} ${word}: use one of ${known.join(', ')}.`);
    return name;
  });
}

function numbers(list: string, flag: string): number[] {
  return list.split(',').map((word) => number(word, flag));
}

function number(word: string, flag: string): number {
  const value = Number(word);
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`${flag} ${word}: use a number above 0.`);
  return value;
}
