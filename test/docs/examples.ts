import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../examples');
const GUIDES: Readonly<Record<string, string>> = { 'server-rendered': 'server-rendered-pages' };

/** The examples without an API, which test/package/front-ends.spec.ts runs in a browser. */
export const FRONT_ENDS: readonly string[] = ['react', 'next'];

/** The examples with an API, and the guides that show their code. */
export const EXAMPLES = readdirSync(FOLDER)
  .filter((name) => existsSync(join(FOLDER, name, 'package.json')) && !FRONT_ENDS.includes(name))
  .map((name) => ({ name, folder: join(FOLDER, name), guide: `docs/${GUIDES[name] ?? name}.md` }));

/** Returns whether an example compiles a guide's code, because only the example installs the required packages. */
export function isCompiledByExample(document: string): boolean {
  return EXAMPLES.some(({ name, guide }) => guide === document && name !== 'server-rendered');
}
