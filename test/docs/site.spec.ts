import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, groupsOf, INDEX, linkOnSite } from '../../website/pages';

const ROOT = join(__dirname, '../..');
const index = readFileSync(join(ROOT, INDEX), 'utf8');
const files = groupsOf(index).flatMap(({ pages }) => pages.map(({ file }) => file));

/** The pages of the site: the guides, and the documents in the root folder of the repository. */
const existing = ['.', 'docs']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)))
  .filter((path) => path.endsWith('.md') && path !== INDEX);

it('the documentation index lists every page exactly once, and has no link outside its lists', () => {
  expect([...files].sort()).toEqual(existing.sort());
  expect(index.match(/\]\(/g)).toHaveLength(files.length);
});

describe('the website', () => {
  it('each page of the website has a unique address', () => {
    const addresses = [INDEX, ...files].map(addressOf);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addressOf('README.md')).toBe('index');
    expect(addressOf('CHANGELOG.md')).toBe('changelog');
  });

  it('links between pages of the website work, and links to other files become plain text', () => {
    const link = (page: string, href: string): string | undefined => linkOnSite(page, href, files);
    expect(link('docs/roles.md', 'signals.md#events')).toBe('/signals#events');
    expect(link('docs/roles.md', '../README.md#quick-start')).toBe('/index#quick-start');
    expect(link('README.md', 'docs/sign-up.md')).toBe('/sign-up');
    expect(link('docs/roles.md', '#names')).toBe('#names');
    expect(link('docs/roles.md', 'https://nestjs.com')).toBe('https://nestjs.com');
    expect(link('docs/performance.md', '../bench/results/latest.json')).toBeUndefined();
  });
});
