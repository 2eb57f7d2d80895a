import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Coverage } from '../../bench/src/coverage/executed-files';
import { createDatabase, DATABASES, type Dialect, DIALECTS, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/auth/src/');
const guide = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));

/** Returns the code spans in the first column of the table with the given first header cell. */
function codeSpansUnder(head: string): string[] {
  const rows = guide.split(`\n| ${head} |`)[1]!.split('\n\n')[0]!.split('\n').slice(2);
  return rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

const filesNamedIn = (text: string): string[] => [...text.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name]) => name!);

function foldersIn(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${name}/`);
}

describe('the architecture guide', () => {
  it('the architecture guide names the folders of the library', () => {
    const folders = codeSpansUnder('Folder of `libs/auth/src`').filter((name) => /^\w+\/$/.test(name));
    expect(folders.sort()).toEqual(foldersIn('libs/auth/src').sort());
  });

  it.each(['services', 'store', 'http'])('the architecture guide names the folders inside %s/', (layer) => {
    const folders = codeSpansUnder('Folder of `libs/auth/src`').filter(
      (name) => name.startsWith(`${layer}/`) && name !== `${layer}/`,
    );
    expect(folders.sort()).toEqual(
      foldersIn(`libs/auth/src/${layer}`)
        .map((name) => `${layer}/${name}`)
        .sort(),
    );
  });

  it('the architecture guide names the folders of the tests', () => {
    expect(codeSpansUnder('Folder of `test`').sort()).toEqual(foldersIn('test').sort());
  });

  it('the architecture guide names the folders of the benchmark', () => {
    expect(codeSpansUnder('Folder of `bench/src`').sort()).toEqual(foldersIn('bench/src').sort());
  });

  it('the architecture guide names only files that exist', () => {
    const files = filesNamedIn(guide);
    const existing = [...filesIn('libs/auth/src'), ...filesIn('test').map((path) => `test/${path}`)];
    expect(files.length).toBeGreaterThan(80);
    expect(files.filter((name) => !existing.some((path) => path === name || path.endsWith(`/${name}`)))).toEqual([]);
  });
});

/** Files that run only on some databases. */
const RUNS_ON: Readonly<Record<string, readonly Dialect[]>> = {
  'store/database/pooled-database.ts': ['postgres', 'mysql'],
  'store/database/driver-connections.ts': ['postgres', 'mysql'],
  'store/database/sqlite-database.ts': ['sqlite'],
};

/** For each walkthrough, a function that prepares and returns the requests that the walkthrough describes. */
const WALKTHROUGHS: Readonly<Record<string, (app: TestApplication) => Promise<() => Promise<unknown>>>> = {
  'One login': async (app) => {
    const { refresh_token: token } = await app.login();
    await app.refresh(token).expect(200);
    return async () => {
      await app.login();
      await app.http.post('/auth/login/').send({ username: 'alice', password: 'wrong' }).expect(400);
    };
  },
  'One guarded request': async (app) => {
    const { access_token: token } = await app.login();
    return () => app.get('/me', token).expect(200);
  },
  'One refresh': async (app) => {
    const { refresh_token: token } = await app.login();
    return async () => {
      await app.refresh(token).expect(200);
      await app.refresh(token).expect(400);
      expect(app.sent('token_reuse_detected')).toHaveLength(1);
    };
  },
};

describe.each(DATABASES)('the walkthroughs of the architecture guide on %s', (name) => {
  const coverage = new Coverage();
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    await coverage.start();
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
  });

  afterAll(async () => {
    coverage.stop();
    await app.close();
    await database.drop();
  });

  it.each(Object.keys(WALKTHROUGHS))(
    'every file that the section "%s" names is executed by the request',
    async (title) => {
      const section = guide.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!;
      const files = filesNamedIn(section).filter((file) => RUNS_ON[file]?.includes(DIALECTS[name]) ?? true);
      expect(files.length).toBeGreaterThan(10);
      const operation = await WALKTHROUGHS[title]!(app);
      const executed = await coverage.executedFiles(SOURCES, operation);
      expect(files.filter((file) => !executed.includes(file))).toEqual([]);
    },
  );
});
