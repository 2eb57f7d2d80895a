import { dirname, join } from 'node:path/posix';

/** A link in a document to a file, or to a heading in a file. */
export interface Link {
  /** The path of the file, relative to the root of all documents. */
  readonly path: string;
  readonly heading: string | undefined;
}

/** Returns the links of a document, except those to websites. */
export function linksOf(document: string, text: string): Link[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, path, heading]) => ({
    path: path ? join(dirname(document), path) : document,
    heading,
  }));
}

/** Returns the anchor of a heading. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Returns the anchors of the headings of a document. */
export function headingsOf(text: string): string[] {
  const prose = text.replaceAll(/^ *```[^]*?^ *```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slugOf(heading!));
}

/**
 * Returns the links of a document whose file or heading does not exist.
 * @param read returns the text of a file, or undefined if the file does not exist
 */
export function brokenLinks(document: string, read: (path: string) => string | undefined): string[] {
  return linksOf(document, read(document)!)
    .filter(({ path, heading }) => {
      const target = read(path);
      return target === undefined || (heading !== undefined && !headingsOf(target).includes(heading));
    })
    .map(({ path, heading }) => `${path}${heading ? `#${heading}` : ''}`);
}
