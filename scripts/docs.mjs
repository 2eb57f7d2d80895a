// Builds the website of the documentation into website/.vitepress/dist: npm run docs. With `-- --serve`, the
// script serves the pages and rebuilds them on changes, but builds the API pages only if the pages are missing.
// The script installs the packages of the website if the packages are missing or older than the lockfile.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const website = join(root, 'website');
const api = join(website, 'public/api');
const isServing = process.argv.includes('--serve');

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Adds what the pages of TypeDoc lack for screen readers, and removes links from the headings that fold a section. */
function makeAccessible(folder) {
  const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.html'));
  for (const page of pages.map((name) => join(folder, name))) {
    const html = readFileSync(page, 'utf8')
      .replace('<div class="col-content">', '<div class="col-content" role="main">')
      .replace('<div class="col-sidebar">', '<div class="col-sidebar" role="complementary">')
      .replaceAll(/<summary[^]*?<\/summary>/g, (summary) =>
        summary.replaceAll(/<a [^>]*class="tsd-anchor-icon"[^]*?<\/a>/g, ''),
      );
    writeFileSync(page, withoutSkippedLevels(html));
  }
}

/** Announces a heading that is more than one level below the previous one as one level below it. */
function withoutSkippedLevels(html) {
  let previous = 0;
  return html.replaceAll(/<h([1-6])(?=[ >])/g, (tag, level) => {
    const announced = Math.min(Number(level), previous + 1);
    previous = announced;
    return announced === Number(level) ? tag : `${tag} role="heading" aria-level="${announced}"`;
  });
}

const changedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
if (changedAt(join(website, 'node_modules/.package-lock.json')) < changedAt(join(website, 'package-lock.json'))) {
  run('npm', ['ci'], website);
}

if (!isServing || !existsSync(api)) {
  rmSync(api, { recursive: true, force: true });
  const typedoc = [
    ...[join(root, 'node_modules/typedoc/bin/typedoc'), '--readme', 'none', '--hideGenerator'],
    ...['--titleLink', process.env.SITE_BASE ?? '/', '--out'],
  ];
  run(process.execPath, [...typedoc, api], root);
  run(process.execPath, [...typedoc, join(api, 'client'), '--options', 'libs/client/typedoc.json'], root);
  makeAccessible(api);
}

// Copies the modules of Mermaid, which only pages with a diagram load.
const mermaid = join(website, 'node_modules/mermaid/dist');
for (const part of ['mermaid.esm.min.mjs', 'chunks/mermaid.esm.min']) {
  cpSync(join(mermaid, part), join(website, 'public/mermaid', part), {
    recursive: true,
    filter: (path) => !path.endsWith('.map'),
  });
}

const vitepress = join(website, 'node_modules/vitepress/bin/vitepress.js');
run(process.execPath, [vitepress, isServing ? 'dev' : 'build', '.'], website);
