import { Database } from '../../libs/auth/src/database/database';
import { serverWarnings } from '../../libs/auth/src/database/server-checks';
import type { Row } from '../../libs/auth/src/database/transaction';
import { createDatabase, DATABASES, describeOn, type Dialect, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

/** Returns a server that responds to a statement with the rows or the error of the first pattern that matches. */
function server(answers: readonly (readonly [RegExp, readonly Row[] | Error])[], processID?: number) {
  const asked: string[] = [];
  const query = (sql: string): Promise<readonly Row[]> => {
    asked.push(sql);
    const answer = answers.find(([pattern]) => pattern.test(sql))?.[1] ?? new Error(`unexpected: ${sql}`);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { asked, query, processID };
}

const variables = (values: Readonly<Record<string, string>>): readonly [RegExp, readonly Row[]] => [
  /^SHOW VARIABLES/,
  Object.entries(values).map(([name, value]) => ({ Variable_name: name, Value: value })),
];

const MYSQL_PRIMARY = [/read_only/, [{ in_recovery: 0, not_ready: 0, read_only: 0 }]] as const;
const GALERA = { wsrep_on: 'ON', wsrep_provider: '/usr/lib/galera/libgalera_smm.so' };
const GROUP = { group_replication_single_primary_mode: 'OFF' };
const PRIMARY = { in_recovery: false, not_ready: false, read_only: false, process_id: 7, standbys: '0' };

describe('warnings about the database server', () => {
  const mysql: [title: string, values: Readonly<Record<string, string>>, warnings: RegExp[]][] = [
    ['no cluster', { wsrep_on: 'OFF', wsrep_provider: 'none', wsrep_sync_wait: '0' }, []],
    ['Galera with wsrep_sync_wait = 0', { ...GALERA, wsrep_sync_wait: '0' }, [/wsrep_sync_wait is 0: .*= 1/]],
    [
      'Galera that waits for updates but not for reads',
      { ...GALERA, wsrep_sync_wait: '6' },
      [/wsrep_sync_wait is 6: /],
    ],
    ['Galera that waits for reads', { ...GALERA, wsrep_sync_wait: '7' }, []],
    [
      'a multi-primary group with eventual consistency',
      { ...GROUP, group_replication_consistency: 'EVENTUAL' },
      [/EVENTUAL in a multi-primary group.*'BEFORE'/],
    ],
    ['a multi-primary group that waits before reads', { ...GROUP, group_replication_consistency: 'BEFORE' }, []],
    [
      'a single-primary group',
      { group_replication_single_primary_mode: 'ON', group_replication_consistency: 'EVENTUAL' },
      [],
    ],
  ];

  it.each(mysql)('the warnings about MySQL and MariaDB match the settings: %s', async (_, values, warnings) => {
    const found = await serverWarnings('mysql', server([MYSQL_PRIMARY, variables(values)]));
    expect(found).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
  });

  const notWritable: [Dialect, Row, RegExp][] = [
    ['mysql', { read_only: 1 }, /server is read-only\. Connect to the primary/],
    ['mysql', { not_ready: 1 }, /Galera node is not synchronized/],
    ['postgres', { ...PRIMARY, read_only: true }, /server is read-only\. Connect to the primary/],
    ['postgres', { ...PRIMARY, in_recovery: true, read_only: true }, /server is a standby\. Connect to the primary/],
  ];

  it.each(notWritable)('a %s server that accepts no writes causes a warning: %j', async (dialect, row, warning) => {
    const found = await serverWarnings(dialect, server([[/read_only/, [row]], variables({})]));
    expect(found).toEqual([expect.stringMatching(warning)]);
  });

  it('Pgpool-II with load balancing causes a warning', async () => {
    const row = { ...PRIMARY, standbys: '1' };
    const pgpool = (mode: string) =>
      server(
        [
          [/^SELECT/, [row]],
          [/^PGPOOL SHOW/, [{ load_balance_mode: mode }]],
        ],
        8,
      );
    expect(await serverWarnings('postgres', pgpool('on'))).toEqual([expect.stringMatching(/load_balance_mode = off/)]);
    expect(await serverWarnings('postgres', pgpool('off'))).toEqual([]);
  });

  it.each([
    ['PostgreSQL without standbys', PRIMARY, 8, 2],
    ['PostgreSQL without a pooler', { ...PRIMARY, standbys: '2' }, 7, 2],
    ['a pooler that refuses PGPOOL SHOW', { ...PRIMARY, standbys: '2' }, 8, 3],
  ])('the check for Pgpool-II causes no warning on %s', async (_, row, processID, statements) => {
    const asked = server(
      [
        [/^SELECT/, [row]],
        [/^PGPOOL/, new Error('syntax error')],
      ],
      processID,
    );
    expect(await serverWarnings('postgres', asked)).toEqual([]);
    expect(asked.asked).toHaveLength(statements);
  });
});

describe.each(DATABASES)('server warnings on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createDatabase(name)));
  afterAll(() => database.drop());

  it('a suitable server causes no warning', async () => {
    const app = await TestApplication.start({ database, users: [] });
    expect(await app.nest.get(Database).serverWarnings()).toEqual([]);
    expect(app.logs.filter((line) => /server|standby|wsrep/i.test(line))).toEqual([]);
    await app.close();
  });
});

describeOn('postgres')('server warnings at startup', (name) => {
  it('an application on a read-only database starts and logs one warning', async () => {
    const database = await createDatabase(name);
    const first = await TestApplication.start({ database, users: [] });
    await first.dataSource.query(
      `ALTER DATABASE ${new URL((database.options as { url: string }).url).pathname.slice(1)}
         SET default_transaction_read_only = on`,
    );
    await first.close();
    const app = await TestApplication.start({ database, users: [] });
    expect(app.logs.filter((line) => line.includes('The server is read-only'))).toHaveLength(1);
    await app.close();
    await database.drop();
  });

  it('an application starts without a warning if the queries for server warnings fail', async () => {
    const database = await createDatabase(name);
    const app = await TestApplication.start({
      database,
      users: [],
      configure: (app) => {
        app.get(Database).serverWarnings = () => Promise.reject(new Error('permission denied'));
      },
    });
    expect(app.logs.join('\n')).not.toMatch(/permission|server is/);
    await app.close();
    await database.drop();
  });
});
