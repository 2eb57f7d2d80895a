import type { AuthError } from 'nestjs-session-auth';
import type { CountingHasher } from './counting-hasher';
import type { Host } from './host';

/** What MySQL and MariaDB take for `alice` by default, one after another: by case, by accent, by trailing space. */
export const SPELLINGS: readonly string[] = [
  ...Array.from({ length: 32 }, (_, bits) =>
    [...'alice'].map((letter, at) => upperIf(bits & (1 << at), letter)).join(''),
  ),
  ...['\u00e1lice', 'al\u00edce', 'alic\u00e9', '\u00c0LICE', 'ALI\u00c7E'],
  ...['alice ', 'alice  ', 'Alice '],
];

/** Latin letters in full width, which NFKC takes for the plain ones. */
export function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}

/** What became of one login: `ok`, or the code of its refusal. */
export async function tryLogin(host: Host, username: string, password: string): Promise<string> {
  try {
    await host.auth.login({ username, password }, { ipAddress: '192.0.2.1' });
    return 'ok';
  } catch (error) {
    return (error as AuthError).code;
  }
}

/** Guesses a password under every spelling in turn. Returns the refusals, and how often this hash was verified for them. */
export async function guess(
  host: Host,
  hasher: CountingHasher,
  hash: string,
  rounds: number,
  spellings = SPELLINGS,
): Promise<{ readonly refusals: ReadonlySet<string>; readonly verified: number }> {
  const before = hasher.verified.length;
  const refusals = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    for (const spelling of spellings) refusals.add(await tryLogin(host, spelling, `guess ${round}`));
  }
  return { refusals, verified: hasher.verified.slice(before).filter((one) => one === hash).length };
}

function upperIf(condition: number, letter: string): string {
  return condition ? letter.toUpperCase() : letter;
}
