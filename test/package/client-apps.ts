import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Installation } from './installation';
import { run } from './run';

/** A browser app that runs in Node, which provides the APIs that the client needs. */
const APP = `
import { AuthClient, ClientError, type Session } from 'nestjs-session-auth-client';

async function main(): Promise<void> {
  const client = new AuthClient({ baseUrl: process.argv[2]! });
  await client.login('alice', 'correct horse battery staple');
  const sessions: Session[] = await client.sessions();
  const answer = await client.fetch('/me');
  await client.logout();
  const refused = await client.fetch('/me').catch((error: unknown) => error instanceof ClientError && error.code);
  console.log(sessions.length + ' ' + answer.status + ' ' + String(refused));
}
void main();
`;

const PROCESS = 'declare const process: { readonly argv: readonly string[] };';

/** Compiler options of a browser app, with every declaration checked. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    strict: true,
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    outDir: 'dist',
    rootDir: '.',
  },
  files: ['process.d.ts', 'app.mts', 'app.cts'],
};

/** Compiles the same app as an ES module and as CommonJS. Returns the two files. */
export function compileApps(installation: Installation): readonly string[] {
  const folder = join(installation.folder, 'client-apps');
  mkdirSync(folder);
  const files = { 'app.mts': APP, 'app.cts': APP, 'process.d.ts': PROCESS, 'tsconfig.json': JSON.stringify(TSCONFIG) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  run(process.execPath, [join(installation.folder, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);
  return ['app.mjs', 'app.cjs'].map((name) => join(folder, 'dist', name));
}

/** Returns the output of the app. Asynchronous, because the application that it calls runs in this process. */
export async function runApp(node: string, app: string, url: string): Promise<string> {
  return (await promisify(execFile)(node, [app, url])).stdout.trim();
}
