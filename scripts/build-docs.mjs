// Writes the documents of both packages into libs/ (or the folder that is named): into auth/ README.md, SECURITY.md,
// CHANGELOG.md and docs/, into client/ its guide as README.md. It omits what is between "repository only" comments, and rows
// of tables about documents that the package lacks. Other links to what the package lacks become plain text.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'libs'));
const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...guides.map((name) => `docs/${name}`)];

const REPOSITORY_ONLY = /<!-- repository only -->[^]*?<!-- end -->\n*/g;
const LINK = /\[([^\]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)/g;
const ROW_OF_LINK = new RegExp(`^\\| ${LINK.source} \\|.*\\n`, 'gm');

function write(document, target, packedDocuments) {
  const isPacked = (path) => packedDocuments.includes(join(dirname(document), path));
  const packed = readFileSync(join(root, document), 'utf8')
    .replaceAll(REPOSITORY_ONLY, '')
    .replaceAll(ROW_OF_LINK, (row, _, path) => (isPacked(path) ? row : ''))
    .replaceAll(LINK, (link, words, path) => (isPacked(path) ? link : words));
  mkdirSync(dirname(join(out, target)), { recursive: true });
  writeFileSync(join(out, target), packed);
}

rmSync(join(out, 'auth/docs'), { recursive: true, force: true });
for (const document of documents) write(document, join('auth', document), documents);
write('docs/client.md', 'client/README.md', []);
