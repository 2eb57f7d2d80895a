// Writes the documents of both packages into libs/, or into the folder of the first argument. The package of the
// library gets README.md, SECURITY.md, CHANGELOG.md and docs/. The package of the client gets its guide as
// README.md. The script omits text between "repository only" comments, and list items that are only a link to a file
// outside the package. Other links to such files become plain text.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'libs'));
const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...guides.map((name) => `docs/${name}`)];

const REPOSITORY_ONLY = /<!-- repository only -->[^]*?<!-- end -->\n*/g;
const LINK = /\[([^\]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)/g;
const ITEM_OF_LINK = new RegExp(`^- ${LINK.source}\\n`, 'gm');

function write(document, target, packedDocuments) {
  const isPacked = (path) => packedDocuments.includes(join(dirname(document), path));
  const packed = readFileSync(join(root, document), 'utf8')
    .replaceAll(REPOSITORY_ONLY, '')
    .replaceAll(ITEM_OF_LINK, (item, _, path) => (isPacked(path) ? item : ''))
    .replaceAll(LINK, (link, words, path) => (isPacked(path) ? link : words));
  mkdirSync(dirname(join(out, target)), { recursive: true });
  writeFileSync(join(out, target), packed);
}

rmSync(join(out, 'auth/docs'), { recursive: true, force: true });
for (const document of documents) write(document, join('auth', document), documents);
write('docs/client.md', 'client/README.md', []);
