// Writes the documents of the package into its folder (or the one that is named): README.md, SECURITY.md, CHANGELOG.md and
// docs/. It omits what is between "repository only" comments, and rows of tables about documents that the package lacks.
// Other links to what the package lacks become plain text.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'libs/auth'));
const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...guides.map((name) => `docs/${name}`)];

const REPOSITORY_ONLY = /<!-- repository only -->[^]*?<!-- end -->\n*/g;
const LINK = /\[([^\]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)/g;
const ROW_OF_LINK = new RegExp(`^\\| ${LINK.source} \\|.*\\n`, 'gm');

rmSync(join(out, 'docs'), { recursive: true, force: true });
for (const document of documents) {
  const isPacked = (path) => documents.includes(join(dirname(document), path));
  const packed = readFileSync(join(root, document), 'utf8')
    .replaceAll(REPOSITORY_ONLY, '')
    .replaceAll(ROW_OF_LINK, (row, _, path) => (isPacked(path) ? row : ''))
    .replaceAll(LINK, (link, words, path) => (isPacked(path) ? link : words));
  mkdirSync(dirname(join(out, document)), { recursive: true });
  writeFileSync(join(out, document), packed);
}
