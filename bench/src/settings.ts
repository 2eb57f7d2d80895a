import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DATABASES, type DatabaseName } from '../../test/support/databases';
import { CONTENDERS, type ContenderName } from './contenders/contender';
import { LOAD_TOOLS, type LoadTool } from './load/load';
import { LATEST } from './results';

/** What a run measures, and for how long. */
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
  readonly sizes: readonly number[];
  readonly prune: number;
  readonly minutes: number;
  readonly badTokens: number;
  readonly instances: readonly number[];
  readonly pgbouncerOptions: object;
  /** The file for the figures. */
  readonly out: string;
}

export const HELP = `npm run bench                      every part, then the report
npm run bench -- <part> [options]  one part: its figures replace the former ones in bench/results/latest.json,
                                   but for those of databases that it does not measure (--database)
npm run bench -- report            draws docs/performance.md anew from there

Parts
  guard      a guarded route beside an unguarded one, and beside other ways to guard it
  refresh    refreshes beside one prepared UPDATE with its commit
  login      logins beside the bare password hash
  growth     look-up, listing, logout/all and clean-up as the tables grow
  memory     memory under full load, and under tokens that nobody was given
  instances  several instances on one PostgreSQL, directly and behind PgBouncer (where pgbouncer is on the PATH)

Options, with their defaults; lists are separated by commas
  --database     those that answer: sqlite, postgres, mariadb
  --contenders   ${CONTENDERS.join(',')}
  --connections  1,8,32,128
  --rounds       5      each measures every contender once, in an order of its own
  --seconds      4      of one measurement
  --warmup       2      seconds for each contender before the first round
  --sessions     500    through which the requests go
  --load         autocannon, wrk where it is installed, or plain (for a smoke run)
  --options      '{}'   options of the library's module, as JSON
  --sizes        1000,100000,1000000  sessions (growth)
  --prune        1000000  rows to clean up (growth)
  --minutes      10     of full load (memory)
  --bad-tokens   1000000  (memory)
  --instances    1,2,4  (instances)
  --pgbouncer-options  '{"namedStatements":false}'  added to --options behind PgBouncer, as JSON
  --out          bench/results/latest.json; with another file docs/performance.md stays as it is

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
  sizes: '1000,100000,1000000',
  prune: '1000000',
  minutes: '10',
  'bad-tokens': '1000000',
  instances: '1,2,4',
  'pgbouncer-options': '{"namedStatements":false}',
  out: LATEST,
};

/** The part that is asked for, `all` without one. */
export function readCommand(args: readonly string[]): { part: string; isHelp: boolean; settings: Settings } {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, help: { type: 'boolean' as const } },
  });
  const given = { ...FLAGS, ...(values as Partial<typeof FLAGS>) };
  const settings = {
    databases: among(given.database, DATABASES, '--database'),
    contenders: among(given.contenders, CONTENDERS, '--contenders'),
    connections: numbers(given.connections, '--connections'),
    rounds: number(given.rounds, '--rounds'),
    seconds: number(given.seconds, '--seconds'),
    warmupSeconds: number(given.warmup, '--warmup'),
    sessions: number(given.sessions, '--sessions'),
    load: among(given.load, LOAD_TOOLS, '--load')[0]!,
    options: JSON.parse(given.options) as object,
    sizes: numbers(given.sizes, '--sizes'),
    prune: number(given.prune, '--prune'),
    minutes: number(given.minutes, '--minutes'),
    badTokens: number(given['bad-tokens'], '--bad-tokens'),
    instances: numbers(given.instances, '--instances'),
    pgbouncerOptions: JSON.parse(given['pgbouncer-options']) as object,
    out: resolve(given.out),
  };
  return { part: positionals[0] ?? 'all', isHelp: values['help'] === true, settings };
}

function among<Name extends string>(list: string, known: readonly Name[], flag: string): Name[] {
  return list.split(',').map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new Error(`${flag} ${word}: there is ${known.join(', ')}.`);
    return name;
  });
}

function numbers(list: string, flag: string): number[] {
  return list.split(',').map((word) => number(word, flag));
}

function number(word: string, flag: string): number {
  const value = Number(word);
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`${flag} ${word}: a number above 0 is needed.`);
  return value;
}
