import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { DATABASES, describeEachPooled, type DatabaseName, type TestDatabase } from './databases';
import { closeAndKeep, startForTest, takeDatabase } from './start-for-test';
import { Tap } from './tap';
import { TestApplication, PASSWORD, type TestApplicationOptions, type PlatformName } from './test-application';

export { INVALID_CREDENTIALS, INVALID_REFRESH, type HistoryEntry } from './test-application';

/** One application on one database. The properties of these objects can be read within tests and hooks. */
export interface TestEnvironment {
  readonly name: DatabaseName;
  readonly platform: PlatformName;
  readonly app: TestApplication;
  readonly database: TestDatabase;
  /** The tap of the application. Its hook is removed after each test. */
  readonly tap: Tap;
  /** Starts a further instance on the same database, with the same time, without users. It is closed after the test. */
  readonly start: (options?: Partial<TestApplicationOptions>) => Promise<TestApplication>;
}

type EnvironmentOptions = Omit<TestApplicationOptions, 'database'>;

type DefineSuite<Name> = (
  title: Name,
  options: EnvironmentOptions,
  defineTests: (env: TestEnvironment) => void,
) => void;

/** Runs the same tests on every database. The rows, signals and logs of a test are removed before the next one. */
export const describeOnEachDatabase: DefineSuite<string> = (title, options, defineTests) =>
  describe.each(DATABASES)(`${title} on %s`, (name) => defineSuite(name, options, defineTests));

/** Runs the same tests on every database with a connection pool. */
export const describeOnEachServer: DefineSuite<string> = (title, options, defineTests) =>
  describeEachPooled(`${title} on %s`, (name) => defineSuite(name, options, defineTests));

/** Runs the same tests on every database, and on Fastify with SQLite. */
export const describeEverywhere: DefineSuite<string> = (title, options, defineTests) => {
  describeOnEachDatabase(title, options, defineTests);
  if (!DATABASES.includes('sqlite')) return;
  describe(`${title} on Fastify`, () => defineSuite('sqlite', { ...options, platform: 'fastify' }, defineTests));
};

/** Runs tests of the HTTP layer, which does not depend on the database, on Express and Fastify with SQLite. */
export const describeHttp: DefineSuite<string> = (title, options, defineTests) =>
  describe.each(['express', 'fastify'] as const)(`${title} on %s`, (platform) =>
    defineSuite('sqlite', { ...options, platform }, defineTests),
  );

/** Runs tests on one application with SQLite. */
export const describeApplication: DefineSuite<string> = (title, options, defineTests) =>
  describe(title, () => defineSuite('sqlite', options, defineTests));

/** Runs the same tests on one database. */
export const defineSuite: DefineSuite<DatabaseName> = (name, options, defineTests) => {
  let app: TestApplication;
  let database: TestDatabase;
  let tap: Tap | undefined;

  beforeAll(async () => {
    database = await takeDatabase(name, options.entities ?? AUTH_ENTITIES);
    app = await TestApplication.start({ database, ...options });
  });
  afterAll(() => closeAndKeep(app, database));
  beforeEach(() => app.reset());
  afterEach(() => {
    if (tap) tap.hook = {};
  });

  defineTests({
    name,
    platform: options.platform ?? 'express',
    app: deferred(() => app),
    database: deferred(() => database),
    tap: deferred(() => (tap ??= new Tap(app))),
    start: async (given) => {
      const other = await startForTest(database, { users: [], ...given });
      other.clock.advance(app.clock.now() - other.clock.now());
      return other;
    },
  });
};

/** Returns an object with the properties of an object that exists later. */
function deferred<T extends object>(get: () => T): T {
  return new Proxy({} as T, {
    get: (_, property) => Reflect.get(get(), property) as unknown,
    set: (_, property, value) => Reflect.set(get(), property, value),
  });
}

/** A response in parsed form and as bytes, both without the `Date` header. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bytes: string;
}

/** Sends the lines of a request unchanged, each character as one byte. HTTP clients would normalize some of them. */
export async function sendRaw(
  host: Pick<TestApplication, 'url'>,
  lines: readonly string[],
  body = '',
): Promise<RawAnswer> {
  const { hostname, port } = new URL(host.url);
  const [requestLine, ...headers] = lines;
  const request = [requestLine, `Host: ${hostname}`, 'Connection: close', ...headers, '', body].join('\r\n');
  const socket = connect(Number(port), hostname);
  socket.setTimeout(10_000, () => socket.destroy(new Error('No response within 10 seconds.')));
  socket.write(request, 'latin1');
  return parse((await buffer(socket)).toString('latin1'));
}

function parse(text: string): RawAnswer {
  const bytes = text.replace(/\r\nDate: [^\r]*/i, '');
  const [head = '', ...rest] = bytes.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: rest.join('\r\n\r\n'), bytes };
}

/** Sends a POST of JSON text with its `Content-Length`, as raw lines. */
export function postJson(app: TestApplication, path: string, json: string, ...headers: string[]): Promise<RawAnswer> {
  const bytes = Buffer.from(json).toString('latin1');
  const lines = [`POST ${path} HTTP/1.1`, 'Content-Type: application/json', `Content-Length: ${bytes.length}`];
  return sendRaw(app, [...lines, ...headers], bytes);
}

/** Returns the text as a chunked body of two chunks. */
export function inChunks(text: string): string {
  const middle = Math.floor(text.length / 2);
  const parts = [text.slice(0, middle), text.slice(middle)].filter(Boolean);
  return [...parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`), '0\r\n\r\n'].join('');
}

/** Resets the user's password to `PASSWORD`, and deletes the rows, signals and logs that this writes. */
export async function restorePassword(app: TestApplication, username = 'alice'): Promise<void> {
  await app.auth.resetPassword(await app.userId(username), PASSWORD);
  await app.reset();
}

export const UNAVAILABLE = { detail: 'The database is unavailable.' };
export const MISSING = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
export const INVALID_ACCESS = { detail: 'Invalid or expired access token.', code: 'access_token_invalid' };
export const CROSS_SITE = { detail: 'The request does not come from a trusted origin.', code: 'cross_site_request' };
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** Returns the header with an access token or an API key. */
export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
