import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth-client';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/client/src');
const guide = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');

/** Returns the names in the first column of the table under a heading. */
function namesUnder(heading: string): string[] {
  const section = guide.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const cells = section.split('\n').flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name!));
}

function words(file: string, from: string, pattern: RegExp): string[] {
  const [, rest] = readFileSync(join(SOURCES, file), 'utf8').split(from);
  return [...rest!.split(/\n}|;\n\n/)[0]!.matchAll(pattern)].map(([, word]) => word!);
}

describe('docs/client.md', () => {
  it('the guide lists every event of the client', () => {
    expect(namesUnder('Events')).toEqual(words('events.ts', 'interface ClientEvents {', /^ {2}(\w+):/gm));
  });

  it('the guide lists every code of the client', () => {
    const codes = words('errors.ts', 'type ClientErrorCode =', /^ {2}\| '(\w+)'/gm);
    expect(codes).toHaveLength(18);
    expect(namesUnder('Errors')).toEqual(codes);
  });

  it('the guide lists every option of the client', () => {
    const options = words('options.ts', 'interface AuthClientOptions {', /^ {2}readonly (\w+)\?:/gm);
    expect(namesUnder('Options')).toEqual(options);
  });

  it('the guide lists every method of the client', () => {
    const methods = Object.getOwnPropertyNames(library.AuthClient.prototype);
    expect(namesUnder('Methods').sort()).toEqual(methods.filter((name) => name !== 'constructor').sort());
  });
});

it('the client package exports only the names of its public API', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AuthClient',
    'ClientError',
    'localTokens',
    'memoryTokens',
    'sessionTokens',
  ]);
});
