import { Database } from '../../libs/auth/src/store/database/database';
import type { Dialect } from '../../libs/auth/src/store/database/dialect';
import { serverWarnings } from '../../libs/auth/src/store/database/server-warnings';
import type { Row } from '../../libs/auth/src/store/database/transaction';
import { createDatabase, DATABASES, describeOn, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

/** A server that answers each statement by the first pattern that fits. */
function server(answers: readonly (readonly [RegExp, readonly Row[] | Error])[], processID?: number) {
  const asked: string[] = [];
  const ask = (sql: string): Promise<readonly Row[]> => {
    asked.push(sql);
    const answer = answers.find(([pattern]) => pattern.test(sql))?.[1] ?? new Error(`unexpected: ${sql}`);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { asked, ask, processID };
}

const variables = (values: Readonly<Record<string, string>>): readonly [RegExp, readonly Row[]] => [
  /^SHOW VARIABLES/,
  Object.entries(values).map(([name, value]) => ({ Variable_name: name, Value: value })),
];

const MYSQL_PRIMARY = [/read_only/, [{ in_recovery: 0, not_ready: 0, read_only: 0 }]] as const;
const GALERA = { wsrep_on: 'ON', wsrep_provider: '/usr/lib/galera/libgalera_smm.so' };
const GROUP = { group_replication_single_primary_mode: 'OFF' };
const PRIMARY = { in_recovery: false, not_ready: false, read_only: false, process_id: 7, standbys: '0' };

describe('the warnings about the server', () => {
  const mysql: [title: string, values: Readonly<Record<string, string>>, warnings: RegExp[]][] = [
    ['no cluster', { wsrep_on: 'OFF', wsrep_provider: 'none', wsrep_sync_wait: '0' }, []],
    ['Galera that reads what is not applied yet', { ...GALERA, wsrep_sync_wait: '0' }, [/wsrep_sync_wait is 0: .*= 1/]],
    ['Galera that waits for updates only', { ...GALERA, wsrep_sync_wait: '6' }, [/wsrep_sync_wait is 6: /]],
    ['Galera that waits', { ...GALERA, wsrep_sync_wait: '7' }, []],
    [
      'a group with several writers that do not wait',
      { ...GROUP, group_replication_consistency: 'EVENTUAL' },
      [/EVENTUAL, in a group with several writers.*'BEFORE'/],
    ],
    ['a group with several writers that wait', { ...GROUP, group_replication_consistency: 'BEFORE' }, []],
    [
      'a group with one writer',
      { group_replication_single_primary_mode: 'ON', group_replication_consistency: 'EVENTUAL' },
      [],
    ],
  ];

  it.each(mysql)('of MySQL or MariaDB, %s', async (_, values, warnings) => {
    const found = await serverWarnings('mysql', server([MYSQL_PRIMARY, variables(values)]));
    expect(found).toEqual(warnings.map((warning) => expect.stringMatching(warning)));
  });

  const notWritable: [Dialect, Row, RegExp][] = [
    ['mysql', { read_only: 1 }, /server is read-only: .*Connect to the primary/],
    ['mysql', { not_ready: 1 }, /Galera node is not part of a primary component/],
    ['postgres', { ...PRIMARY, read_only: true }, /server is read-only: .*Connect to the primary/],
    ['postgres', { ...PRIMARY, in_recovery: true, read_only: true }, /server is a standby: .*Connect to the primary/],
  ];

  it.each(notWritable)('of %s name a server that takes no writes: %j', async (dialect, row, warning) => {
    const found = await serverWarnings(dialect, server([[/read_only/, [row]], variables({})]));
    expect(found).toEqual([expect.stringMatching(warning)]);
  });

  it('name a pgpool2 that balances reads', async () => {
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
    ['a server without standbys', PRIMARY, 8, 1],
    ['a server that is reached directly', { ...PRIMARY, standbys: '2' }, 7, 1],
    ['another pooler', { ...PRIMARY, standbys: '2' }, 8, 2],
  ])('ask %s nothing that it refuses, or live with that', async (_, row, processID, statements) => {
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

describe.each(DATABASES)('an application on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await createDatabase(name)));
  afterAll(() => database.drop());

  it('starts without a warning about the server', async () => {
    const host = await Host.start({ database, users: [] });
    expect(await host.app.get(Database).serverWarnings()).toEqual([]);
    expect(host.logs.filter((line) => /server|standby|wsrep/i.test(line))).toEqual([]);
    await host.close();
  });
});

describeOn('postgres')('an application whose sessions are read-only', () => {
  it('starts, and says so once', async () => {
    const database = await createDatabase('postgres');
    const first = await Host.start({ database, users: [] });
    await first.dataSource.query(
      `ALTER DATABASE ${new URL((database.options as { url: string }).url).pathname.slice(1)}
         SET default_transaction_read_only = on`,
    );
    await first.close();
    const host = await Host.start({ database, users: [] });
    expect(host.logs.filter((line) => line.includes('The database server is read-only'))).toHaveLength(1);
    await host.close();
    await database.drop();
  });

  it('starts without it where the server does not answer the questions', async () => {
    const database = await createDatabase('postgres');
    const host = await Host.start({
      database,
      users: [],
      configure: (app) => {
        app.get(Database).serverWarnings = () => Promise.reject(new Error('permission denied'));
      },
    });
    expect(host.logs.join('\n')).not.toMatch(/permission|server is/);
    await host.close();
    await database.drop();
  });
});
