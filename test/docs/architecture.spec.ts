import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Coverage } from '../../bench/src/coverage/executed-files';
import { createDatabase, DATABASES, type DatabaseName, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src/');
const guide = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));

/** What is named between backticks in the first cells of the table whose head begins so. */
function named(head: string): string[] {
  const rows = guide.split(`\n| ${head} |`)[1]!.split('\n\n')[0]!.split('\n').slice(2);
  return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

const filesNamedIn = (text: string): string[] => [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name!);

function foldersIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}/`);
}

describe('the architecture guide', () => {
  it('names the folders of the library', () => {
    const folders = named('Folder of `libs/auth/src`').filter((name) => /^\w+\/$/.test(name));
    expect(folders.sort()).toEqual(foldersIn('libs/auth/src').sort());
  });

  it.each(['services', 'store', 'http'])('names the folders inside %s/', (layer) => {
    const folders = named('Folder of `libs/auth/src`').filter(
      (name) => name.startsWith(`${layer}/`) && name !== `${layer}/`,
    );
    expect(folders.sort()).toEqual(
      foldersIn(`libs/auth/src/${layer}`)
        .map((name) => `${layer}/${name}`)
        .sort(),
    );
  });

  it('names the folders of the tests', () => {
    expect(named('Folder of `test`').sort()).toEqual(foldersIn('test').sort());
  });

  it('names the folders of the benchmark', () => {
    expect(named('Folder of `bench/src`').sort()).toEqual(foldersIn('bench/src').sort());
  });

  it('names files that exist', () => {
    const files = filesNamedIn(guide);
    const existing = [...filesIn('libs/auth/src'), ...filesIn('test').map((path) => `test/${path}`)];
    expect(files.length).toBeGreaterThan(80);
    expect(files.filter((name) => !existing.some((path) => path === name || path.endsWith(`/${name}`)))).toEqual([]);
  });
});

/** Files that run on some databases only. */
const RUNS_ON: Readonly<Record<string, readonly DatabaseName[]>> = {
  'store/database/pooled-database.ts': ['postgres', 'mariadb'],
  'store/database/driver-connections.ts': ['postgres', 'mariadb'],
  'store/database/sqlite-database.ts': ['sqlite'],
};

/** The requests that each walk follows, after their preparation. */
const WALKS: Readonly<Record<string, (host: Host) => Promise<() => Promise<unknown>>>> = {
  'One login': async (host) => {
    const { refresh_token: token } = await host.login();
    await host.refresh(token).expect(200);
    return async () => {
      await host.login();
      await host.http.post('/auth/login/').send({ username: 'alice', password: 'wrong' }).expect(400);
    };
  },
  'One guarded request': async (host) => {
    const { access_token: token } = await host.login();
    return () => host.get('/me', token).expect(200);
  },
  'One refresh': async (host) => {
    const { refresh_token: token } = await host.login();
    return async () => {
      await host.refresh(token).expect(200);
      await host.refresh(token).expect(400);
      expect(host.sent('token_reuse_detected')).toHaveLength(1);
    };
  },
};

describe.each(DATABASES)('the walks of the architecture guide on %s', (name) => {
  const coverage = new Coverage();
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    await coverage.start();
    database = await createDatabase(name);
    host = await Host.start({ database });
  });

  afterAll(async () => {
    coverage.stop();
    await host.close();
    await database.drop();
  });

  it.each(Object.keys(WALKS))('%s: the request executes every file that is named', async (title) => {
    const walk = guide.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
    const files = filesNamedIn(walk).filter((file) => RUNS_ON[file]?.includes(name) ?? true);
    expect(files.length).toBeGreaterThan(10);
    const operation = await WALKS[title]!(host);
    const executed = await coverage.executedFiles(SOURCES, operation);
    expect(files.filter((file) => !executed.includes(file))).toEqual([]);
  });
});
