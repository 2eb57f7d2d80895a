import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type MarkdownOptions } from 'vitepress';
import { brokenLinks, slugOf } from '../links';
import { addressOf, groupsOf, INDEX, linkOnSite, REPOSITORY, sidebarOf } from '../pages';

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const VUE = join(ROOT, 'website/node_modules/vue');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const pages = [INDEX, ...groupsOf(read(INDEX)).flatMap((group) => group.pages.map(({ file }) => file))];

// VitePress checks links to pages, but not links to headings.
const readIfThere = (path: string): string | undefined =>
  existsSync(join(ROOT, path)) ? (path.endsWith('.md') ? read(path) : '') : undefined;
const broken = pages.flatMap((page) => brokenLinks(page, readIfThere).map((link) => `${page} links to ${link}`));
if (broken.length > 0)
  throw new Error(`The targets of these links do not exist. Correct the links:\n${broken.join('\n')}`);

export default defineConfig({
  title: 'nestjs-session-auth',
  description: 'Session-based authentication for NestJS with opaque tokens.',
  lang: 'en',
  // The path under which the site is served.
  base: (process.env['SITE_BASE'] ?? '/') as `/${string}/`,
  srcDir: '..',
  srcExclude: ['{apps,bench,examples,libs,scripts,test,website}/**', 'docs/api/**'],
  outDir: '.vitepress/dist',
  cacheDir: '.vitepress/cache',
  rewrites: Object.fromEntries(pages.map((file) => [file, `${addressOf(file)}.md`])),
  markdown: {
    anchor: { slugify: slugOf },
    config: useRepositoryMarkdown,
    // The default themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    publicDir: join(ROOT, 'website/public'),
    // The pages are outside the folder that contains node_modules, so Vite does not find Vue by itself.
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: join(VUE, 'server-renderer/index.mjs') },
        { find: /^vue$/, replacement: join(VUE, 'dist/vue.runtime.esm-bundler.js') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Quick start', link: '/#quick-start' },
      { text: 'Documentation', link: `/${addressOf(INDEX)}` },
      { text: 'API', link: '/api/index.html', target: '_self' },
      { text: 'Client API', link: '/api/client/index.html', target: '_self' },
    ],
    sidebar: sidebarOf(read(INDEX)),
    ...(REPOSITORY ? { socialLinks: [{ icon: 'github', link: REPOSITORY }] } : {}),
  },
});

/** Renders the links, images and diagrams of the repository's Markdown on the site. */
function useRepositoryMarkdown(md: MarkdownIt): void {
  md.core.ruler.push('repository_links', ({ tokens, env }) => {
    const page = relative(
      ROOT,
      (env as { realPath?: string; path: string }).realPath ?? (env as { path: string }).path,
    );
    for (const { type, children } of tokens) if (type === 'inline' && children) rewriteLinks(page, children);
    for (const token of tokens) {
      // Vue resolves a path without a leading dot in the public folder.
      if (token.type === 'html_block') token.content = token.content.replaceAll(/(<img src=")(?=\w+\/)/g, '$1./');
    }
  });
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index]!;
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<MermaidDiagram code="${encodeURIComponent(content)}" />`;
  };
}

interface Token {
  type: string;
  hidden: boolean;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** Replaces the target of each link, and removes links that become plain text. */
function rewriteLinks(page: string, tokens: Token[]): void {
  let isPlain = false;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    if (token.type === 'link_open') {
      const target = linkOnSite(page, token.attrGet('href')!, pages);
      isPlain = target === undefined;
      if (target !== undefined) token.attrSet('href', target);
    }
    if (isPlain && /^link_(?:open|close)$/.test(token.type)) {
      isPlain = token.type === 'link_open';
      tokens.splice(index--, 1);
    }
  }
}
