import { dirname, join } from 'node:path';

/** A link of a document to a file, or to a heading of one. */
export interface Link {
  /** Relative to the folder of all documents. */
  readonly path: string;
  readonly heading: string | undefined;
}

/** The links of a document that do not lead to the web. */
export function linksOf(document: string, text: string): Link[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, path, heading]) => ({
    path: path ? join(dirname(document), path) : document,
    heading,
  }));
}

/** The headings of a document, as links name them. */
export function headingsOf(text: string): string[] {
  const prose = text.replaceAll(/^ *```[^]*?^ *```$/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

/** The links that lead to no file, or to no heading of it. @param read the text of a file, or undefined */
export function brokenLinks(document: string, read: (path: string) => string | undefined): string[] {
  return linksOf(document, read(document)!)
    .filter(({ path, heading }) => {
      const target = read(path);
      return target === undefined || (heading !== undefined && !headingsOf(target).includes(heading));
    })
    .map(({ path, heading }) => `${path}${heading ? `#${heading}` : ''}`);
}
