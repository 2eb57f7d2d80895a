import type { Response } from 'express';

/** HTML that is not escaped again. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A template whose values are escaped, but for those that are HTML themselves, or lists of it. */
export function markup(parts: TemplateStringsArray, ...values: readonly (string | Markup | Markup[])[]): Markup {
  const textOf = (value: (typeof values)[number] = ''): string => {
    if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
    return value instanceof Markup ? value.text : value.map(({ text }) => text).join('');
  };
  return new Markup(parts.map((part, index) => part + textOf(values[index])).join(''));
}

/** Sends a page without scripts. `no-store`: a logout leaves nothing to go back to. */
export function sendPage(response: Response, title: string, body: Markup): void {
  const page = markup`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`;
  response.header('Content-Security-Policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'");
  response.header('Cache-Control', 'no-store').type('html').send(page.text);
}
