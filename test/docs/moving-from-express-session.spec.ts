import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from './code-blocks';

const FOLDER = join(__dirname, '../migration/express-session');

it('docs/moving-from-express-session.md contains every file of its tested code unchanged', () => {
  const blocks = blocksOf('docs/moving-from-express-session.md').map(({ code }) => code);
  const files = readdirSync(FOLDER).map((name) => readFileSync(join(FOLDER, name), 'utf8'));
  for (const code of files) expect(blocks).toContain(code);
  expect(blocks).toHaveLength(files.length + 1); // and main.ts
});
