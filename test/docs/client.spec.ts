import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth-client';

const ROOT = join(__dirname, '../..');
const SOURCES = join(ROOT, 'libs/client/src');
const guide = readFileSync(join(ROOT, 'docs/client.md'), 'utf8');

/** What the first cells of the table under a heading name. */
function named(heading: string): string[] {
  const section = guide.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
  const cells = section.split('\n').flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? []);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name!));
}

function words(file: string, from: string, pattern: RegExp): string[] {
  const [, rest] = readFileSync(join(SOURCES, file), 'utf8').split(from);
  return [...rest!.split(/\n}|;\n\n/)[0]!.matchAll(pattern)].map(([, word]) => word!);
}

describe('the guide of the client', () => {
  it('lists the events that there are', () => {
    expect(named('Events')).toEqual(words('events.ts', 'interface ClientEvents {', /^ {2}(\w+):/gm));
  });

  it('lists the codes that there are', () => {
    const codes = words('errors.ts', 'type ClientErrorCode =', /^ {2}\| '(\w+)'/gm);
    expect(codes).toHaveLength(17);
    expect(named('Errors')).toEqual(codes);
  });

  it('lists the options that there are', () => {
    const options = words('options.ts', 'interface AuthClientOptions {', /^ {2}readonly (\w+)\?:/gm);
    expect(named('Options')).toEqual(options);
  });

  it('lists the methods that there are', () => {
    const methods = Object.getOwnPropertyNames(library.AuthClient.prototype);
    expect(named('Methods').sort()).toEqual(methods.filter((name) => name !== 'constructor').sort());
  });
});

it('the client exports these names and no others', () => {
  expect(Object.keys(library).sort()).toEqual([
    'AuthClient',
    'ClientError',
    'localTokens',
    'memoryTokens',
    'sessionTokens',
  ]);
});
