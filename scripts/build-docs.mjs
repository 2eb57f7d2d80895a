// Copies the documents that belong to the package into its folder (or the one that is named): SECURITY.md, docs/threats.md.
// What they link to and the package does not contain becomes plain text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const out = resolve(process.argv[2] ?? join(root, 'libs/auth'));
const documents = ['SECURITY.md', 'docs/threats.md'];

for (const document of documents) {
  const text = readFileSync(join(root, document), 'utf8');
  const packed = text.replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)[^)]*\)/g, (link, words, path) =>
    documents.includes(join(dirname(document), path)) ? link : words,
  );
  mkdirSync(dirname(join(out, document)), { recursive: true });
  writeFileSync(join(out, document), packed);
}
