import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthService } from 'nestjs-session-auth';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase, DATABASES } from '../../../test/support/databases';
import { make } from '../contenders/guard';
import { Teardown } from '../measure/teardown';
import { Coverage } from './executed-files';

const SOURCES = join(__dirname, '../../../libs/auth/src/');
const CREDENTIALS = { username: 'user', password: 'correct horse battery staple' };

/** The number of requests of each kind before the measured requests, so that lazy initialization is not counted. */
const WARMUP = 3;

/** The number of measured requests. A file counts if all of them execute it, so background work is not counted. */
const MEASURED = 3;

/** Folders that a reader of a request need not open. All of their files together count as one. */
const FOUNDATION = ['base', 'options', 'adapters', 'database'];

/** The highest counts that `--check` accepts. */
const LIMITS = { 'guarded request': 10, refresh: 12, reuse: 13, 'cookie refresh': 14, login: 18 };

const HELP = `npm run files-per-request [-- --list] [--check]
Reports how many files of libs/auth/src a request executes, from V8's precise coverage. A file counts if one of its
functions is called during each of three requests. All files in the folders ${FOUNDATION.join(', ')} together count as one.
The total, without this rule, follows in parentheses. Runs on PostgreSQL, or on SQLite if PostgreSQL is unavailable.

  --list   name the files
  --check  exit with status 1 if a count is above its limit: ${Object.entries(LIMITS)
    .map(([name, limit]) => `${name} ${limit}`)
    .join(', ')}`;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A request to measure. */
interface Flow {
  /** Runs before each request. */
  readonly prepare?: () => Promise<unknown>;
  readonly send: () => Promise<unknown>;
}

const teardown = new Teardown();

async function main(): Promise<void> {
  const boolean = { type: 'boolean' } as const;
  const { values } = parseArgs({ options: { list: boolean, check: boolean, help: boolean } });
  if (values.help) return console.log(HELP);
  const coverage = new Coverage();
  await coverage.start();
  const database = DATABASES.includes('postgres') ? 'postgres' : 'sqlite';
  const flows = {
    ...(await bearerFlows(await startApplication(database, {}))),
    'cookie refresh': cookieRefresh(await startApplication(database, { cookies: { mode: 'optional' } })),
  };
  console.log(`Files of libs/auth/src executed per request on ${database}`);
  for (const [name, limit] of Object.entries(LIMITS)) {
    const files = await filesOf(flows[name as keyof typeof LIMITS], coverage);
    const counted = countOf(files);
    const isAbove = values.check && counted > limit;
    console.log(`${name.padEnd(16)}${counted} (${files.length})${isAbove ? `, above the limit of ${limit}` : ''}`);
    if (values.list) console.log(files.map((file) => `  ${file}`).join('\n'));
    if (isAbove) process.exitCode = 1;
  }
  coverage.stop();
}

async function filesOf({ prepare, send }: Flow, coverage: Coverage): Promise<string[]> {
  const executed: string[][] = [];
  while (executed.length < WARMUP + MEASURED) {
    await prepare?.();
    executed.push(await coverage.executedFiles(SOURCES, send));
  }
  const measured = executed.slice(WARMUP);
  return measured[0]!.filter((file) => measured.every((files) => files.includes(file)));
}

function countOf(files: readonly string[]): number {
  const others = files.filter((file) => !FOUNDATION.includes(file.split('/')[0]!));
  return others.length + (others.length < files.length ? 1 : 0);
}

async function bearerFlows(url: string): Promise<Record<Exclude<keyof typeof LIMITS, 'cookie refresh'>, Flow>> {
  const login = (): Promise<Tokens> => post(`${url}/auth/login/`, CREDENTIALS);
  const refresh = ({ refresh_token }: Tokens, status = 200): Promise<Tokens> =>
    post(`${url}/auth/token/refresh/`, { refresh_token }, status);
  let tokens = await login();
  return {
    'guarded request': { send: () => get(`${url}/me`, tokens.access_token) },
    refresh: { send: async () => (tokens = await refresh(tokens)) },
    reuse: {
      // The previous reuse has ended all sessions.
      prepare: async () => {
        tokens = await login();
        await refresh(tokens);
      },
      send: () => refresh(tokens, 400),
    },
    login: { send: login },
  };
}

/** Refreshes with the cookies of a login, as a browser does. */
function cookieRefresh(url: string): Flow {
  const headers = { 'x-auth-transport': 'cookie', 'sec-fetch-site': 'same-origin' };
  let cookie: string;
  return {
    prepare: async () => {
      const response = await request(`${url}/auth/login/`, CREDENTIALS, headers);
      const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0]!);
      cookie = cookies.join('; ');
    },
    send: async () => read(await request(`${url}/auth/token/refresh/`, {}, { ...headers, cookie })),
  };
}

async function startApplication(name: 'postgres' | 'sqlite', cookies: object): Promise<string> {
  const testDatabase = await createDatabase(name);
  teardown.add(() => testDatabase.drop());
  const options = { pruneIntervalSeconds: false, bcryptCost: 10, ...cookies };
  const { module } = await make({ database: testDatabase.options, sessions: 0, options });
  @Module(module)
  class ApplicationModule {}
  const app = await NestFactory.create(ApplicationModule, { logger: ['error', 'fatal'] });
  teardown.add(() => app.close());
  await app.get(AuthService).createUser(CREDENTIALS);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  return `http://127.0.0.1:${port}`;
}

async function get(url: string, token: string): Promise<unknown> {
  return read(await fetch(url, { headers: { authorization: `Bearer ${token}` } }));
}

async function post<Body>(url: string, body: object, status = 200): Promise<Body> {
  return (await read(await request(url, body), status)) as Body;
}

function request(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) });
}

async function read(response: Response, status = 200): Promise<unknown> {
  const body: unknown = await response.json();
  if (response.status !== status) throw new Error(`The response was ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => teardown.run());
