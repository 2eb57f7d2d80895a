/** Names of releases that are not codenames. */
const SUITES = ['oldstable', 'stable', 'testing', 'unstable'];

/**
 * Returns the URI of the Debian archive that is configured for apt, in the one-line format or in the format of
 * .sources files. Archives of other vendors are ignored: they are signed with keys of their own.
 * @param codename the release of the system, for example `bookworm`
 */
export function archiveIn(sources, codename) {
  const found = [...oneLineEntries(sources), ...deb822Entries(sources)].find(
    ({ types, suites, components, signedBy }) =>
      types.includes('deb') &&
      suites.some((suite) => suite === codename || SUITES.includes(suite)) &&
      components.includes('main') &&
      (signedBy === '' || signedBy.includes('/debian-archive-')),
  );
  if (found) return found.uri;
  throw new Error('Found no Debian archive in /etc/apt/sources.list and /etc/apt/sources.list.d. Add one.');
}

function oneLineEntries(sources) {
  const lines = sources.matchAll(/^(deb(?:-src)?)[ \t]+(?:\[(.*?)\][ \t]*)?(\S+)[ \t]+(\S+)[ \t]+([^#\n]*)/gm);
  return [...lines].map(([, type, options = '', uri, suite, components]) => ({
    types: [type],
    uri,
    suites: [suite],
    components: words(components),
    signedBy: /signed-by=(\S+)/i.exec(options)?.[1] ?? '',
  }));
}

function deb822Entries(sources) {
  const withoutComments = sources.replaceAll(/^#.*\n/gm, '');
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name) => new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, 'im').exec(stanza)?.[1] ?? '';
    if (/^no\b/i.test(field('Enabled').trim())) return [];
    return words(field('URIs')).map((uri) => ({
      types: words(field('Types')),
      uri,
      suites: words(field('Suites')),
      components: words(field('Components')),
      signedBy: field('Signed-By').trim(),
    }));
  });
}

function words(text) {
  return text.split(/\s+/).filter(Boolean);
}
