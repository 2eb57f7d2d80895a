import { blocksOf, type CodeBlock } from './code-blocks';
import { runBlock } from './run-block';

const PAGE = 'docs/moving-from-express-session.md';

/** The names of the files on the page, in the order of its code blocks. */
const NAMES = [
  ...['taken-over.entity', 'opened-session-cipher', 'former-sessions'],
  ...['take-over.middleware', 'own-page', 'migration.module', 'main', 'exchange.controller'],
];

const blocks = blocksOf(PAGE);
if (blocks.length !== NAMES.length) throw new Error(`${PAGE} has ${blocks.length} code blocks instead of its files.`);
const FILES: ReadonlyMap<string, CodeBlock> = new Map(NAMES.map((name, index) => [name, blocks[index]!]));

/** Runs a file of the page and the files that it imports. Returns its exports. */
export function runMigrationFile<T>(name: string, loaded: Record<string, unknown> = {}): T {
  const modules = new Proxy(loaded, {
    has: (_, path: string) => path.startsWith('./'),
    get: (_, path: string) => (loaded[path] ??= runMigrationFile(path.slice(2, -'.js'.length), loaded)),
  });
  return runBlock<T>(FILES.get(name)!, { modules });
}
