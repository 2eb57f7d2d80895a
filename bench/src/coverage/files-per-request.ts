import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthService } from 'nestjs-session-auth';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createDatabase, DATABASES } from '../../../test/support/databases';
import { make } from '../contenders/ours';
import { Teardown } from '../measure/teardown';
import { Coverage } from './executed-files';

const SOURCES = join(__dirname, '../../../libs/auth/src/');
const CREDENTIALS = { username: 'user', password: 'correct horse battery staple' };

/** The number of requests of each kind before the measured request, so that lazy initialization is not counted. */
const WARMUP = 3;

const HELP = `npm run files-per-request [-- --list]
Reports how many files of libs/auth/src a guarded request, a refresh and a login execute, from V8's precise coverage.
A file counts if one of its functions is called during the request. Runs on PostgreSQL, or on SQLite if PostgreSQL is
unavailable.

  --list  name the files`;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const teardown = new Teardown();

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { list: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) return console.log(HELP);
  const coverage = new Coverage();
  await coverage.start();
  const database = DATABASES.includes('postgres') ? 'postgres' : 'sqlite';
  const url = await startApplication(database);
  let tokens = await post<Tokens>(`${url}/auth/login/`, CREDENTIALS);
  const requests = {
    'guarded request': () => get(`${url}/me`, tokens.access_token),
    refresh: async () => {
      tokens = await post<Tokens>(`${url}/auth/token/refresh/`, { refresh_token: tokens.refresh_token });
    },
    login: () => post(`${url}/auth/login/`, CREDENTIALS),
  };
  console.log(`Files of libs/auth/src executed per request on ${database}`);
  for (const [name, send] of Object.entries(requests)) {
    for (let count = 0; count < WARMUP; count++) await send();
    const files = await coverage.executedFiles(SOURCES, send);
    console.log(`${name.padEnd(16)}${files.length}`);
    if (values.list) console.log(files.map((file) => `  ${file}`).join('\n'));
  }
  coverage.stop();
}

async function startApplication(name: 'postgres' | 'sqlite'): Promise<string> {
  const testDatabase = await createDatabase(name);
  teardown.add(() => testDatabase.drop());
  const options = { pruneIntervalSeconds: false, bcryptCost: 10 };
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

async function get(url: string, token: string): Promise<void> {
  await read(await fetch(url, { headers: { authorization: `Bearer ${token}` } }));
}

async function post<Body>(url: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  return (await read(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }))) as Body;
}

async function read(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`The response was ${response.status}: ${JSON.stringify(body)}`);
  return body;
}

main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => teardown.run());
