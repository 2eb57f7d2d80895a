import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName } from '../../test/support/databases';
import { CONTENDERS, type ContenderName } from './contenders/contender';
import { LOAD_TOOLS, type LoadTool } from './load/load';
import { LATEST } from './results';

/** What to measure, and for how long. */
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
  /** File that the figures are written to. */
  readonly out: string;
}

export const HELP = `npm run bench                      every part, then the report
npm run bench -- <part> [options]  one part; its figures replace the previous ones in bench/results/latest.json,
                                   except for databases that it does not measure (--database)
npm run bench -- report            writes docs/performance.md from those figures

Parts
  guard      a guarded route, compared with an unguarded one and with other guards
  refresh    refreshes, compared with one prepared UPDATE and its commit; stored bytes per session
  login      logins, compared with the bare password hash
  bounded    operations on a user with 1,000 active and many ended sessions
  growth     look-ups, listing, logout/all and pruning as the tables grow
  memory     memory under full load, and under tokens that were never issued
  instances  several instances on one PostgreSQL, directly and behind PgBouncer (if pgbouncer is on the PATH)

Options, with their defaults; lists are separated by commas
  --database     those that are available: sqlite, postgres, mariadb
  --contenders   ${CONTENDERS.join(',')}
  --connections  1,8,32,128
  --rounds       5      each measures every contender once, in random order
  --seconds      4      per measurement
  --warmup       2      seconds per contender before the first round
  --sessions     500    sessions that the requests cycle through
  --load         autocannon; wrk if it is installed; or plain (for a smoke run)
  --options      '{}'   options of the library's module, as JSON
  --ended        100000  ended sessions of the user (bounded)
  --sizes        1000,100000,1000000  sessions (growth)
  --prune        1000000  rows to prune (growth)
  --minutes      10     of full load (memory)
  --unknown-tokens  1000000  (memory)
  --instances    1,2,4  (instances)
  --pgbouncer-options  '{"namedStatements":false}'  added to --options behind PgBouncer, as JSON
  --out          bench/results/latest.json; docs/performance.md is written for this file only

TEST_POSTGRES_URL and TEST_MARIADB_URL name servers on which databases may be created; they are dropped at the end.`;

const FLAGS = {
  database: DATABASES.join(','),
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
  out: LATEST,
};

/** Parses the command line; without a part it is `all`. */
export function readCommand(args: readonly string[]): { part: string; isHelp: boolean; settings: Settings } {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean' as const } },
  });
  const given = { ...FLAGS, ...(values as Partial<typeof FLAGS>) };
  const settings = {
    databases: oneOrMore(given.database, DATABASES, '--database'),
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
    out: resolve(given.out),
  };
  return { part: positionals[0] ?? 'all', isHelp: values['help'] === true, settings };
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
