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

/** The files of the page and of the client. They are read at startup, so that a request cannot read any other file. */
export class PageFiles {
  private constructor(
    private readonly page: ReadonlyMap<string, PageFile>,
    private readonly client: ReadonlyMap<string, PageFile>,
  ) {}

  static read(env: Readonly<Record<string, string | undefined>>): PageFiles {
    return new PageFiles(readFiles(join(__dirname, 'page')), readFiles(clientFolder(env)));
  }

  find(folder: 'page' | 'client', name: string): PageFile | undefined {
    return this[folder].get(name);
  }
}

/**
 * Returns the folder of the ES modules of `nestjs-session-auth-client`: `CLIENT_MODULES`, which
 * `npm start` sets, or the folder in the built package.
 */
function clientFolder(env: Readonly<Record<string, string | undefined>>): string {
  return env['CLIENT_MODULES'] || join(dirname(require.resolve('nestjs-session-auth-client/package.json')), 'dist/esm');
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => extname(name) in TYPES);
  return new Map(
    names.map((name) => [name, { type: TYPES[extname(name)]!, content: readFileSync(join(folder, name)) }]),
  );
}
