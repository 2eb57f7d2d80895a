import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName } from './databases';
import { CONTENDERS, type ContenderName } from './contenders/contender';
import { LOAD_TOOLS, type LoadTool } from './load/load';
import { LATEST } from './results';
import { MEASUREMENTS, type Measurement } from './versions/measurements';

/** The settings of the benchmark. `HELP` describes them. */
export interface Settings {
  readonly databases: readonly DatabaseName[];
  readonly contenders: readonly ContenderName[];
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly sessions: number;
  readonly load: LoadTool;
  readonly options: object;
  readonly ended: number;
  readonly sizes: readonly number[];
  readonly prune: number;
  readonly minutes: number;
  readonly unknownTokens: number;
  readonly instances: readonly number[];
  readonly pgbouncerOptions: object;
  readonly only: readonly Measurement[];
  /** The file to which the figures are written. */
  readonly out: string;
}

export const HELP = `npm run bench                      runs every part, then writes the report
npm run bench -- <part> [options]  runs one part. Its figures replace the previous ones in bench/results/latest.json,
                                   except for databases that it does not measure (--databases)
npm run bench -- report            writes docs/performance.md from the figures in bench/results/latest.json
npm run bench -- compare <tarball> <tarball>
                                   compares two versions of the library, packed with npm pack, and prints the ratios
                                   of the second version to the first. Logins hash with CheapPasswordHasher of
                                   nestjs-session-auth/testing, which both versions must export

Parts
  guard      a guarded route, compared with an unguarded one and with other guards
  refresh    refreshes, compared with one prepared UPDATE and its commit; stored bytes per session
  login      logins, compared with the bare password hash
  bounded    operations on a user with 1,000 active and many ended sessions
  growth     lookups, listing, logout/all and pruning as the tables grow
  memory     memory under full load, and under tokens that were never issued
  instances  several instances on one PostgreSQL, directly and behind PgBouncer (if pgbouncer is on the PATH)

Options with their defaults. Separate the values of a list by commas.
  --databases           sqlite,postgres,mariadb      databases, as far as they are available
  --contenders          ${CONTENDERS.join(',')}
  --connections         1,8,32,128                   concurrent connections or clients (compare: 1,8,32, and only for
                                                     the guard)
  --rounds              5                            each round measures every contender once, in random order
                                                     (compare: 15, and the order alternates)
  --seconds             4                            duration of a measurement (compare: 2)
  --warmup              2                            seconds per contender before the first round
  --sessions            500                          sessions that the requests cycle through
  --load                autocannon                   load tool. wrk must be installed. plain is only for smoke runs
  --options             '{}'                         options of AuthModule, as JSON
  --ended               100000                       ended sessions of the user (bounded)
  --sizes               1000,100000,1000000          numbers of sessions (growth)
  --prune               1000000                      rows to prune (growth)
  --minutes             10                           duration of full load (memory)
  --unknown-tokens      1000000                      requests with unknown tokens (memory)
  --instances           1,2,4                        numbers of instances (instances)
  --pgbouncer-options   '{"namedStatements":false}'  options, as JSON, that are added to --options behind PgBouncer
  --only                ${MEASUREMENTS.join(',').padEnd(29)}measurements (compare)
  --out                 bench/results/latest.json    file for the figures. Only this file updates docs/performance.md

Set TEST_POSTGRES_URL and TEST_MARIADB_URL to servers on which the benchmark may create databases.
It drops them at the end.`;

const FLAGS = {
  databases: DATABASES.join(','),
  contenders: CONTENDERS.join(','),
  connections: '1,8,32,128',
  rounds: '5',
  seconds: '4',
  warmup: '2',
  sessions: '500',
  load: 'autocannon',
  options: '{}',
  ended: '100000',
  sizes: '1000,100000,1000000',
  prune: '1000000',
  minutes: '10',
  'unknown-tokens': '1000000',
  instances: '1,2,4',
  'pgbouncer-options': '{"namedStatements":false}',
  only: MEASUREMENTS.join(','),
  out: LATEST,
};

const COMPARE_FLAGS = { ...FLAGS, connections: '1,8,32', rounds: '15', seconds: '2' };

export interface Command {
  /** The default is `all`. */
  readonly part: string;
  /** The arguments after the part. */
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
  const [part = 'all', ...operands] = positionals;
  const given = { ...(part === 'compare' ? COMPARE_FLAGS : FLAGS), ...(values as Partial<typeof FLAGS>) };
  const settings = {
    databases: oneOrMore(given.databases, DATABASES, '--databases'),
    contenders: oneOrMore(given.contenders, CONTENDERS, '--contenders'),
    connections: numbers(given.connections, '--connections'),
    rounds: number(given.rounds, '--rounds'),
    seconds: number(given.seconds, '--seconds'),
    warmupSeconds: number(given.warmup, '--warmup'),
    sessions: number(given.sessions, '--sessions'),
    load: oneOrMore(given.load, LOAD_TOOLS, '--load')[0]!,
    options: JSON.parse(given.options) as object,
    ended: number(given.ended, '--ended'),
    sizes: numbers(given.sizes, '--sizes'),
    prune: number(given.prune, '--prune'),
    minutes: number(given.minutes, '--minutes'),
    unknownTokens: number(given['unknown-tokens'], '--unknown-tokens'),
    instances: numbers(given.instances, '--instances'),
    pgbouncerOptions: JSON.parse(given['pgbouncer-options']) as object,
    only: oneOrMore(given.only, MEASUREMENTS, '--only'),
    out: resolve(given.out),
  };
  return { part, operands, isHelp: values['help'] === true, settings };
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
