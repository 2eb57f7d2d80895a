import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');

/** Hosts at both ends of what the peer ranges allow. */
const HOSTS = [
  { nest: '^11', events: '^3', typeorm: '^0.3.29', nestTypeorm: '^11', devices: true },
  { nest: '^12', events: '^12', typeorm: '^1', nestTypeorm: '^12', devices: false },
];

const MAIN = `
import 'reflect-metadata';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AUTH_ENTITIES, AuthModule, AuthService, BearerAuthGuard, CurrentSession, type Session } from 'nestjs-session-auth';
import { actingAs } from 'nestjs-session-auth/testing';

@Controller()
class MeController {
  @Get('me')
  @UseGuards(BearerAuthGuard)
  me(@CurrentSession() session: Session) {
    return { session_id: session.id };
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities: [...AUTH_ENTITIES], synchronize: true }),
    EventEmitterModule.forRoot(),
    AuthModule.forRoot({ sessionPolicy: 'single' }),
  ],
  controllers: [MeController],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  const user = await app.get(AuthService).createUser({ username: 'alice', password: 'secret' }, { skipPolicy: true });
  if (!(await actingAs(app, user)).headers.Authorization) throw new Error('The testing kit does not work.');
  await app.listen(0, '127.0.0.1');
  console.log('listening ' + (app.getHttpServer().address() as { port: number }).port);
}
void main();
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    types: ['node'],
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    outDir: 'dist',
    rootDir: '.',
  },
  files: ['main.ts'],
};

/** What an app in a browser does, here with Node: it has what the client needs of both. */
const APP = `
import { AuthClient, ClientError, type Session } from 'nestjs-session-auth/client';

async function main(): Promise<void> {
  const client = new AuthClient({ baseUrl: process.argv[2]! });
  await client.login('alice', 'secret');
  const sessions: Session[] = await client.sessions();
  const answer = await client.fetch('/me');
  await client.logout();
  const refused = await client.fetch('/me').catch((error: unknown) => error instanceof ClientError && error.code);
  console.log(sessions.length + ' ' + answer.status + ' ' + String(refused));
}
void main();
`;

/** As for a browser, with every declaration checked. */
const APP_TSCONFIG = {
  compilerOptions: {
    ...TSCONFIG.compilerOptions,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: false,
  },
  files: ['process.d.ts', 'app.mts', 'app.cts'],
};

describe('the packed library in a fresh host', () => {
  let work: string;
  let tarball: string;

  beforeAll(() => {
    work = mkdtempSync(join(tmpdir(), 'nsa-package-'));
    run('npx', ['tsc', '-p', 'libs/auth/tsconfig.lib.json', '--outDir', join(work, 'package/dist')], ROOT);
    run(process.execPath, ['scripts/build-client.mjs', join(work, 'package/dist')], ROOT);
    for (const file of ['package.json', 'README.md', 'LICENSE']) {
      run('cp', [join(ROOT, 'libs/auth', file), join(work, 'package', file)], ROOT);
    }
    const [packed] = JSON.parse(run('npm', ['pack', '--json'], join(work, 'package'))) as [
      { filename: string; files: { path: string }[] },
    ];
    tarball = join(work, 'package', packed.filename);
    const outside = packed.files.map(({ path }) => path).filter((path) => !path.startsWith('dist/'));
    expect(outside.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    const inside = packed.files.map(({ path }) => path).filter((path) => /^dist\/.*\.js$/.test(path));
    // Each source file and nothing else; the client's a second time.
    const sources = run('git', ['ls-files', 'libs/auth/src'], ROOT).split('\n').filter(Boolean);
    const expected = sources
      .filter((path) => !path.endsWith('.spec.ts'))
      .map((path) => path.replace('libs/auth/src/', 'dist/').replace(/\.ts$/, '.js'));
    const modules = expected.filter((path) => path.startsWith('dist/client/'));
    expected.push(...modules.map((path) => path.replace('dist/client/', 'dist/client/esm/')));
    expect(inside.sort()).toEqual(expected.sort());
    expect(packed.files.every(({ path }) => /\.(js|d\.ts|md|json)$|LICENSE$/.test(path))).toBe(true);
  }, 120_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it.each(HOSTS)(
    'compiles, starts and logs in on Nest $nest with TypeORM $typeorm',
    async (host) => {
      const folder = mkdtempSync(join(work, 'host-'));
      const dependencies = {
        '@nestjs/common': host.nest,
        '@nestjs/core': host.nest,
        '@nestjs/platform-express': host.nest,
        '@nestjs/event-emitter': host.events,
        '@nestjs/typeorm': host.nestTypeorm,
        typeorm: host.typeorm,
        // Compiled once for the workspace: what is tested here is not how it builds.
        '@types/node': '^20',
        'better-sqlite3': `file:${dirname(require.resolve('better-sqlite3/package.json'))}`,
        'class-transformer': '^0.5.1',
        'class-validator': '^0.15.0',
        'nestjs-session-auth': `file:${tarball}`,
        'reflect-metadata': '^0.2.0',
        rxjs: '^7.2.0',
        ...(host.devices ? { 'ua-parser-js': '^1.0.41' } : {}),
      };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh-host', private: true, dependencies }));
      writeFileSync(join(folder, 'main.ts'), MAIN);
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
      run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], folder);
      run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);
      writeFileSync(join(folder, 'app.mts'), APP);
      writeFileSync(join(folder, 'app.cts'), APP);
      writeFileSync(join(folder, 'process.d.ts'), 'declare const process: { readonly argv: readonly string[] };');
      writeFileSync(join(folder, 'tsconfig.app.json'), JSON.stringify(APP_TSCONFIG));
      run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.app.json'], folder);

      const server = spawn(process.execPath, [join(folder, 'dist/main.js')], { stdio: ['ignore', 'pipe', 'inherit'] });
      try {
        const url = `http://127.0.0.1:${await portOf(server)}`;
        const login = await fetch(`${url}/auth/login/`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'User-Agent': CHROME },
          body: JSON.stringify({ username: 'alice', password: 'secret' }),
        });
        expect(login.status).toBe(200);
        const tokens = (await login.json()) as { access_token: string; session_id: string };
        const headers = { Authorization: `Bearer ${tokens.access_token}` };
        const me = await fetch(`${url}/me`, { headers });
        expect(await me.json()).toEqual({ session_id: tokens.session_id });
        const [session] = (await (await fetch(`${url}/auth/sessions/`, { headers })).json()) as [object];
        expect(session).toMatchObject(host.devices ? { browser_family: 'Chrome' } : { browser_family: 'Other' });
        expect((await fetch(`${url}/me`)).status).toBe(401);
        for (const app of ['app.mjs', 'app.cjs']) {
          expect(await output(process.execPath, [join(folder, 'dist', app), url])).toBe('1 200 signed_out');
        }
      } finally {
        server.kill();
      }
    },
    300_000,
  );
});

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';

function run(command: string, args: string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Without holding up the host that it asks. */
async function output(command: string, args: string[]): Promise<string> {
  return (await promisify(execFile)(command, args)).stdout.trim();
}

function portOf(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stdout!.on('data', (chunk: Buffer) => {
      output += String(chunk);
      const port = /listening (\d+)/.exec(output)?.[1];
      if (port) resolve(port);
    });
    server.once('exit', (code) => reject(new Error(`The host ended with ${code}: ${output}`)));
  });
}
