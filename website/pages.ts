import { dirname, join } from 'node:path/posix';
import { slugOf } from './links';

/**
 * The URL of the repository, without a trailing slash. Links to files that are not pages lead to this URL. If it is
 * undefined, such links become plain text.
 */
export const REPOSITORY: string | undefined = undefined;

/** A page as the index of the documentation lists it. */
export interface ListedPage {
  readonly title: string;
  /** The path of its file in the repository. */
  readonly file: string;
}

/** A part of the index: one of the kinds of documentation. */
export interface Group {
  readonly title: string;
  readonly pages: readonly ListedPage[];
}

/** The path of the index, which lists every page. The sidebar is generated from it. */
export const INDEX = 'docs/README.md';

/** Returns the groups of the index. In the index, a group is a heading and a list with an item for each page. */
export function groupsOf(index: string): Group[] {
  const [, ...sections] = index.split(/^## /m);
  return sections.map((section) => ({
    title: section.split('\n')[0]!,
    pages: [...section.matchAll(/^- \[([^\]]+)\]\(([^)#]+)/gm)].map(([, title, path]) => ({
      title: title!,
      file: join(dirname(INDEX), path!),
    })),
  }));
}

/**
 * Returns the path of a page on the site, without a suffix, such as `sign-up` for `docs/sign-up.md`. The README
 * is `index`.
 */
export function addressOf(file: string): string {
  if (file === 'README.md') return 'index';
  if (file === INDEX) return 'documentation';
  return slugOf(file.replace(/^docs\//, '').replace(/\.md$/, ''));
}

/** Returns the sidebar of the site. */
export function sidebarOf(index: string): { text: string; items: { text: string; link: string }[] }[] {
  return groupsOf(index).map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: `/${addressOf(page.file)}` })),
  }));
}

/** Returns the URL that replaces a link of a page on the site, or undefined if the link becomes plain text. */
export function linkOnSite(page: string, href: string, pages: readonly string[]): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href;
  const [path, hash] = href.split('#') as [string, string?];
  const file = join(dirname(page), decodeURI(path)).replace(/\/$/, '');
  if (pages.includes(file)) return `/${addressOf(file)}${hash ? `#${hash}` : ''}`;
  return REPOSITORY && `${REPOSITORY}/blob/HEAD/${file}${hash ? `#${hash}` : ''}`;
}
