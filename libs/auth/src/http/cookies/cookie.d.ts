/** The part of the package `cookie` that the library uses. Version 0.7 of the package contains no types. */
declare module 'cookie' {
  export interface CookieAttributes {
    readonly encode?: (value: string) => string;
    readonly maxAge: number;
    readonly path: string;
    readonly httpOnly: boolean;
    readonly secure: boolean;
    readonly sameSite: 'lax';
  }

  export function parse(text: string, options: { readonly decode: (value: string) => string }): Record<string, string>;
  export function serialize(name: string, value: string, attributes: CookieAttributes): string;
}
