import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The files of the devices page and of the client, read once. A request can only name a file that
 * was read.
 */
export class PageFiles {
  private constructor(
    private readonly page: ReadonlyMap<string, PageFile>,
    private readonly client: ReadonlyMap<string, PageFile>,
  ) {}

  static read(env: Readonly<Record<string, string | undefined>>): PageFiles {
    return new PageFiles(filesIn(join(__dirname, 'page')), filesIn(clientFolder(env)));
  }

  find(folder: 'page' | 'client', name: string): PageFile | undefined {
    return this[folder].get(name);
  }
}

/**
 * The ES modules of `nestjs-session-auth-client`: in `CLIENT_MODULES`, which `npm start` sets, or
 * in the built package.
 */
function clientFolder(env: Readonly<Record<string, string | undefined>>): string {
  return env['CLIENT_MODULES'] || join(dirname(require.resolve('nestjs-session-auth-client/package.json')), 'dist/esm');
}

function filesIn(folder: string): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => extname(name) in TYPES);
  return new Map(
    names.map((name) => [name, { type: TYPES[extname(name)]!, content: readFileSync(join(folder, name)) }]),
  );
}
