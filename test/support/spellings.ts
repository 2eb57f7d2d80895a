import type { CountingHasher } from './counting-hasher';
import type { Tap } from './tap';
import { okOrCode, type TestApplication } from './test-application';

/**
 * Names that MySQL and MariaDB compare as equal to `alice` by default, because of case, accents or trailing
 * spaces.
 */
export const SPELLINGS: readonly string[] = [
  ...Array.from({ length: 32 }, (_, bits) =>
    [...'alice'].map((letter, at) => (bits & (1 << at) ? letter.toUpperCase() : letter)).join(''),
  ),
  ...['\u00e1lice', 'al\u00edce', 'alic\u00e9', '\u00c0LICE', 'ALI\u00c7E'],
  ...['alice ', 'alice  ', 'Alice '],
];

/** Writes Latin letters in full width. NFKC converts them to ASCII. */
export function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}

/** Returns the result of a login: `ok`, or the code of its refusal. */
export function tryLogin(app: TestApplication, username: string, password: string): Promise<string> {
  return okOrCode(app.auth.login({ username, password }, { ipAddress: '192.0.2.1' }));
}

/** Returns the statements and the verified hashes of the given work. */
export async function workOf(
  tap: Tap,
  hasher: CountingHasher,
  work: () => Promise<unknown>,
): Promise<{ readonly statements: readonly string[]; readonly verified: readonly string[] }> {
  const statements: string[] = [];
  hasher.verified.length = 0;
  tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && statements.push(sql)) };
  await work();
  tap.hook = {};
  return { statements, verified: [...hasher.verified] };
}
