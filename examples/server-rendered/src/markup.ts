import type { Response } from 'express';

/** Safe HTML, which templates insert without escaping it. */
export class Markup {
  constructor(readonly text: string) {}
}

/** A template tag for HTML. Escapes strings, and inserts `Markup` and lists of `Markup` unchanged. */
export function markup(parts: TemplateStringsArray, ...values: readonly (string | Markup | Markup[])[]): Markup {
  const textOf = (value: (typeof values)[number] = ''): string => {
    if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
    return value instanceof Markup ? value.text : value.map(({ text }) => text).join('');
  };
  return new Markup(parts.map((part, index) => part + textOf(values[index])).join(''));
}

/** Sends a page without scripts. `no-store` prevents the back button from showing the page after a logout. */
export function sendPage(response: Response, title: string, body: Markup): void {
  const page = markup`<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`;
  response.header('Content-Security-Policy', "default-src 'none'; form-action 'self'; frame-ancestors 'none'");
  response.header('Cache-Control', 'no-store').type('html').send(page.text);
}
