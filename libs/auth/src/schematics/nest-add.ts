import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import { addAuth, NotUnderstood, type Sources, type TypeScript, type Users } from './edit-sources';

/** The part of the Angular devkit's `Tree` that the schematic uses. `nest add` provides it. */
export interface Tree {
  read(path: string): { toString(): string } | null;
  overwrite(path: string, content: string): void;
  getDir(path: string): { readonly subdirs: readonly string[]; readonly subfiles: readonly string[] };
}

/** The options of `nest add nestjs-session-auth`. */
export interface NestAddOptions {
  /** The folder of the application's sources. Default: `src`. */
  readonly sourceRoot?: string;
  /** Whether users are in the library's own table or in a table of the application. `nest add` asks in a terminal. */
  readonly users?: Users;
}

/** The version of `@nestjs/event-emitter` for each major version of Nest. */
const EMITTERS: Readonly<Record<string, string>> = { '10': '^2.0.0', '11': '^3.0.0', '12': '^12.0.0' };
const GUIDES = 'node_modules/nestjs-session-auth/docs';
const AFTER_ADDING = [
  'Create the tables: run "typeorm migration:run", unless the options of TypeORM have synchronize or migrationsRun.',
  `Create a user and guard your routes: see ${GUIDES}/creating-users.md and guards.md.`,
];
const MAP_USERS =
  "Map your users: AuthModule.forRoot({ users: { entity: User, username: 'email', passwordHash: 'password' } }). " +
  `See ${GUIDES}/your-own-users.md.`;

/** The schematic behind `nest add nestjs-session-auth`. On code that it does not understand, it changes nothing. */
export function nestAdd(options: NestAddOptions) {
  return (tree: Tree, { logger }: { readonly logger: { info(text: string): void } }): Tree => {
    const print = (title: string, lines: readonly string[]): void =>
      logger.info([`\n${title}`, ...lines.map((line) => `  ${line}`)].join('\n'));
    const manifest = read(tree, 'package.json');
    try {
      const changes = { ...changedSources(tree, options), ...changedManifest(manifest) };
      for (const [path, text] of Object.entries(changes)) tree.overwrite(path, text);
      const paths = Object.keys(changes);
      if (paths.length === 0) {
        print('nestjs-session-auth is already added. Nothing changed.', []);
        return tree;
      }
      print('nestjs-session-auth: changed', paths);
      const install = paths.includes('package.json')
        ? ['Install the new dependencies, such as with "npm install".']
        : [];
      print('Left to do:', [...install, ...(options.users === 'mapped' ? [MAP_USERS] : []), ...AFTER_ADDING]);
    } catch (error) {
      if (!(error instanceof NotUnderstood)) throw error;
      print(`nestjs-session-auth: nothing changed, because ${error.message}.`, []);
      print('Add these lines by hand:', linesToAdd(manifest, options.users));
    }
    return tree;
  };
}

function changedSources(tree: Tree, { sourceRoot = 'src', users }: NestAddOptions): Sources {
  if (users !== 'own' && users !== 'mapped') {
    throw new NotUnderstood('it is not known where your users are (--users=own or --users=mapped)');
  }
  return addAuth(loadTypeScript(), sourcesIn(tree, sourceRoot), `${sourceRoot}/app.module.ts`, users);
}

/** Returns the TypeScript files of the folder, and those at the top, except tests. */
function sourcesIn(tree: Tree, root: string): Sources {
  const filesIn = (path: string): string[] => tree.getDir(path).subfiles.map((name) => posix.join(path, name));
  const foldersIn = (path: string): string[] => {
    const inside = tree.getDir(path).subdirs.filter((name) => name !== 'node_modules');
    return [path, ...inside.flatMap((name) => foldersIn(posix.join(path, name)))];
  };
  const paths = [...filesIn('.'), ...foldersIn(root).flatMap(filesIn)];
  const sources = paths.filter((path) => path.endsWith('.ts') && !/\.(d|test|(e2e-)?spec)\.ts$/.test(path));
  return Object.fromEntries(sources.map((path) => [path, read(tree, path)]));
}

function loadTypeScript(): TypeScript {
  try {
    const found = createRequire(join(process.cwd(), 'package.json'))('typescript') as Partial<TypeScript>;
    if (found.createSourceFile && found.transpileModule) return found as TypeScript;
  } catch {
    // The application does not have TypeScript.
  }
  throw new NotUnderstood('the application has no TypeScript whose parser can be used');
}

/** Adds the packages that the library needs and that are not yet there. */
function changedManifest(text: string): Sources {
  const manifest = JSON.parse(text) as { dependencies?: Record<string, string> };
  const validation = { 'class-transformer': '^0.5.1', 'class-validator': '^0.15.0' };
  const needed = { '@nestjs/event-emitter': emitterFor(text), ...validation };
  const dependencies = Object.entries<string | null>({ ...needed, ...manifest.dependencies });
  if (dependencies.some(([, range]) => !range))
    throw new NotUnderstood('package.json has no supported version of @nestjs/core');
  if (dependencies.length === Object.keys(manifest.dependencies ?? {}).length) return {};
  const sorted = Object.fromEntries(dependencies.sort(([one], [other]) => (one < other ? -1 : 1)));
  const indent = /^[ \t]+/m.exec(text)?.[0] ?? '  ';
  return { 'package.json': `${JSON.stringify({ ...manifest, dependencies: sorted }, null, indent)}\n` };
}

function emitterFor(manifest: string): string | null {
  const { dependencies } = JSON.parse(manifest) as { dependencies?: Record<string, string> };
  return EMITTERS[/\d+/.exec(dependencies?.['@nestjs/core'] ?? '')?.[0] ?? ''] ?? null;
}

function linesToAdd(manifest: string, users?: Users): string[] {
  const emitter = emitterFor(manifest);
  return [
    `npm install @nestjs/event-emitter${emitter ? `@${emitter.slice(1)}` : ''} class-validator class-transformer`,
    "import { EventEmitterModule } from '@nestjs/event-emitter';",
    "import { AuthModule, withAuthTables } from 'nestjs-session-auth';",
    `TypeOrmModule.forRoot(withAuthTables({ ... }${users === 'mapped' ? ', { usersTable: false }' : ''})),`,
    'EventEmitterModule.forRoot(),',
    'AuthModule.forRoot(),',
    ...(users === 'own'
      ? []
      : [`${users ? '' : 'If you have a table of users, pass { usersTable: false } as well. '}${MAP_USERS}`]),
    ...AFTER_ADDING,
  ];
}

function read(tree: Tree, path: string): string {
  return tree.read(path)?.toString() ?? '{}';
}
