import type { Server } from 'node:http';
import { Database } from '../../libs/auth/src/database/database';
import { serverWarnings } from '../../libs/auth/src/database/server-checks';
import type { Row } from '../../libs/auth/src/database/transaction';
import { describeOn, type Dialect } from '../support/databases';
import { describeOnEachDatabase } from '../support/environment';
import { databaseForTest, startForTest } from '../support/start-for-test';

type Answers = readonly (readonly [statement: RegExp, answer: readonly Row[] | Error])[];

/** Returns the warnings about a server that responds to a statement with the first answer that matches. */
async function warningsOf(dialect: Dialect, answers: Answers, processID?: number): Promise<[string[], number]> {
  let statements = 0;
  const query = (sql: string): Promise<readonly Row[]> => {
    statements++;
    const answer = answers.find(([pattern]) => pattern.test(sql))?.[1] ?? new Error(`unexpected: ${sql}`);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return [[...(await serverWarnings(dialect, { query, processID }))], statements];
}

const withVariables = (values: Readonly<Record<string, string>>, state: Row = {}): Answers => [
  [/read_only/, [{ in_recovery: 0, not_ready: 0, read_only: 0, ...state }]],
  [/^SHOW VARIABLES/, Object.entries(values).map(([name, value]) => ({ Variable_name: name, Value: value }))],
];

const GALERA = { wsrep_on: 'ON', wsrep_provider: '/usr/lib/galera/libgalera_smm.so' };
const groupOf = (isSinglePrimary: 'ON' | 'OFF', consistency: string): Answers =>
  withVariables({
    group_replication_single_primary_mode: isSinglePrimary,
    group_replication_consistency: consistency,
  });
const PRIMARY = { in_recovery: false, not_ready: false, read_only: false, process_id: 7, standbys: '0' };

const onPostgres = (state: Row, pgpool: readonly Row[] | Error = new Error('syntax error')): Answers => [
  [/^SELECT/, [{ ...PRIMARY, ...state }]],
  [/^PGPOOL/, pgpool],
];

describe('warnings about the database server', () => {
  it.each<[server: string, dialect: Dialect, answers: Answers, warning: RegExp | null]>([
    ['no cluster', 'mysql', withVariables({ wsrep_on: 'OFF', wsrep_provider: 'none', wsrep_sync_wait: '0' }), null],
    ['Galera that does not wait', 'mysql', withVariables({ ...GALERA, wsrep_sync_wait: '0' }), /is 0: .*= 1/],
    ['Galera that waits for updates only', 'mysql', withVariables({ ...GALERA, wsrep_sync_wait: '6' }), /is 6: /],
    ['Galera that waits for reads', 'mysql', withVariables({ ...GALERA, wsrep_sync_wait: '7' }), null],
    ['a group with eventual consistency', 'mysql', groupOf('OFF', 'EVENTUAL'), /EVENTUAL in a multi-primary.*'BEFORE'/],
    ['a group that waits before reads', 'mysql', groupOf('OFF', 'BEFORE'), null],
    ['a single-primary group', 'mysql', groupOf('ON', 'EVENTUAL'), null],
    ['a read-only server', 'mysql', withVariables({}, { read_only: 1 }), /is read-only\. Connect to the primary/],
    ['a Galera node', 'mysql', withVariables({}, { not_ready: 1 }), /Galera node is not synchronized/],
    ['a read-only server', 'postgres', onPostgres({ read_only: true }), /is read-only\. Connect to the primary/],
    ['a standby', 'postgres', onPostgres({ in_recovery: true, read_only: true }), /is a standby\. Connect to the/],
  ])('the warnings match the server: %s (%s)', async (_, dialect, answers, warning) => {
    const [warnings] = await warningsOf(dialect, answers);
    expect(warnings).toEqual(warning ? [expect.stringMatching(warning)] : []);
  });

  const [balanced, notBalanced] = [[{ load_balance_mode: 'on' }], [{ load_balance_mode: 'off' }]];
  it.each<[server: string, answers: Answers, processID: number, statements: number, warning: RegExp | null]>([
    ['Pgpool-II that balances', onPostgres({ standbys: '1' }, balanced), 8, 3, /load_balance_mode = off/],
    ['Pgpool-II that does not balance', onPostgres({ standbys: '1' }, notBalanced), 8, 3, null],
    ['PostgreSQL without standbys', onPostgres({}), 8, 2, null],
    ['PostgreSQL without a pooler', onPostgres({ standbys: '2' }), 7, 2, null],
    ['a pooler that refuses PGPOOL SHOW', onPostgres({ standbys: '2' }), 8, 3, null],
  ])('load balancing causes a warning only on Pgpool-II: %s', async (_, answers, processID, statements, warning) => {
    const expected = warning ? [expect.stringMatching(warning)] : [];
    expect(await warningsOf('postgres', answers, processID)).toEqual([expected, statements]);
  });
});

describeOnEachDatabase('server warnings', { users: [] }, ({ start }) => {
  it('a suitable server causes no warning', async () => {
    const app = await start();
    expect(await app.nest.get(Database).serverWarnings()).toEqual([]);
    expect(app.logs.filter((line) => /server|standby|wsrep/i.test(line))).toEqual([]);
  });

  it('an application starts without a warning if the queries for server warnings fail', async () => {
    const fail = (): Promise<never> => Promise.reject(new Error('permission denied'));
    const app = await start({ configure: (nest) => void (nest.get(Database).serverWarnings = fail) });
    expect(app.logs.join('\n')).not.toMatch(/permission|server is/);
  });
});

describeOn('postgres')('server warnings at startup', (name) => {
  it('an application starts to listen without waiting for the checks of the database', async () => {
    const afterStart = (server: Server): Promise<string[]> =>
      new Promise((resolve) => {
        const answer = (): void => resolve(['seen after the start']);
        if (server.listening) answer();
        else server.once('listening', answer);
      });
    const app = await startForTest(name, {
      users: [],
      configure: (nest) => void (nest.get(Database).serverWarnings = () => afterStart(nest.getHttpServer())),
    });
    expect(app.logs).toContainEqual(expect.stringContaining('seen after the start'));
  });

  it('an application on a read-only database starts and logs one warning', async () => {
    const database = await databaseForTest(name);
    const { dataSource } = await startForTest(database, { users: [] });
    const { pathname } = new URL((database.options as { url: string }).url);
    await dataSource.query(`ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`);
    const app = await startForTest(database, { users: [] });
    await dataSource.query(`ALTER DATABASE ${pathname.slice(1)} RESET default_transaction_read_only`);
    expect(app.logs.filter((line) => line.includes('The server is read-only'))).toHaveLength(1);
  });
});
