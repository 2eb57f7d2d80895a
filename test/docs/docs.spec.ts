import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as library from 'nestjs-session-auth';
import * as clientLibrary from 'nestjs-session-auth-client';
import { ERROR_RESPONSES } from '../../libs/auth/src/base/errors';
import { METRICS } from '../../libs/auth/src/base/telemetry';
import { AUTH_EVENT_NAMES } from '../../libs/auth/src/database/entities';
import { headersOf } from '../../libs/auth/src/http/wire-format';
import { EXTRA_ROWS, MAPPING_RULES, OPTION_ROWS } from '../../libs/auth/src/options/option-table';
import { brokenLinks } from '../../website/links';
import { documents } from './code-blocks';
import { declaredOptions, defaultOf, optionsPage, rangeOf } from './options-page';

const ROOT = join(__dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Returns the first capture group of each match. */
const words = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, word]) => word!);

describe('the reference of signals, events and operations', () => {
  it('docs/signals.md lists exactly the signals of the library', () => {
    const signals = words(read('libs/auth/src/history/signals.ts'), /^ {2}(\w+): \{/gm);
    expect(signals).toHaveLength(11);
    expect(words(read('docs/signals.md').split('\n## Reasons')[0]!, /^\| `(\w+)`/gm)).toEqual(signals);
  });

  it('docs/events.md lists exactly the events of the library', () => {
    expect([...new Set(words(read('docs/events.md'), /^\| `(\w+)`/gm))]).toEqual(AUTH_EVENT_NAMES);
  });

  it('docs/openapi.md lists every operation', () => {
    const { AuthController, PasswordController, ReauthenticationController, SessionsController } = library;
    const controllers = [AuthController, SessionsController, PasswordController, ReauthenticationController];
    const methods = controllers.flatMap(({ prototype }) => Object.values(Object.getOwnPropertyDescriptors(prototype)));
    const operations = methods.flatMap(({ value }) => {
      const key = 'swagger/apiOperation';
      return (Reflect.getMetadata(key, value as object) as { operationId: string } | undefined)?.operationId ?? [];
    });
    expect(words(read('docs/openapi.md'), /^\| `\w+ auth[^`]*` \| `(\w+)`/gm)).toEqual(operations);
  });
});

describe('docs/options.md', () => {
  const declared = declaredOptions();

  it('docs/options.md is up to date with the output of `npm run docs:options`', () => {
    expect(read('docs/options.md')).toBe(optionsPage());
  });

  it('docs/options.md contains every option exactly once', () => {
    const paths = [...OPTION_ROWS.keys(), ...EXTRA_ROWS.keys(), ...MAPPING_RULES.keys()];
    expect(words(read('docs/options.md'), /^### `(.+)`$/gm).sort()).toEqual(paths.sort());
  });

  it.each([...OPTION_ROWS, ...EXTRA_ROWS].map(([path, row]) => ({ path, row })))(
    'the docstring of the option $path contains its default and its bounds',
    ({ path, row }) => {
      const docstring = declared.get(path)?.docstring;
      expect(docstring).toContain(` Default: ${defaultOf(path, row)}`);
      expect(docstring).toContain(rangeOf(row.rule));
    },
  );

  it.each([...MAPPING_RULES.keys()])('the mapping property %s has a docstring', (path) => {
    expect(declared.get(path)?.docstring).toMatch(/\w{4}/);
  });
});

describe('docs/errors.md', () => {
  const CODES = Object.keys(ERROR_RESPONSES) as library.AuthErrorCode[];
  const table = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| `([^`]+)` \| (.*) \|$/gm)];
  const rows = table.map(([, code, status, body, when]) => ({
    code: code as library.AuthErrorCode,
    status: Number(status),
    // In the table, the word `message` means any message.
    body: JSON.parse(body!.replace(/(?<=[:[] ?)message\b/g, '"message"')) as Record<string, string | string[]>,
    when: when!,
  }));

  it('the table of errors lists every code once, sorted by status', () => {
    expect(rows.map(({ code }) => code).sort()).toEqual([...CODES].sort());
    expect(rows.map(({ status }) => status)).toEqual(rows.map(({ status }) => status).sort());
  });

  it.each(rows)('the table of errors contains the status, body and headers of $code', (row) => {
    const { code, status, body, when } = row;
    const message = [Object.values(body)[0]!].flat()[0]!;
    const error = new library.AuthError(code, message, { '<field>': [message] });
    expect({ status, body }).toEqual({ status: error.getStatus(), body: error.getResponse() });
    expect(message).toBe(ERROR_RESPONSES[code].message ?? message);
    for (const [name, value] of Object.entries(headersOf(error))) {
      expect(when).toContain(name === 'Retry-After' ? name : `${name}: ${value}`);
    }
  });

  it('every message in the table of errors exists in the library', () => {
    const quoted = rows.flatMap(({ body }) => Object.values(body).flat()).filter((text) => text.includes(' '));
    const sources = ['base/errors', 'accounts/accounts', 'passwords/replace-password', 'http/platform'];
    const texts = sources.map((path) => read(`libs/auth/src/${path}.ts`)).join('\n');
    const standard = Object.values(ERROR_RESPONSES).map(({ message }) => message);
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter((text) => !standard.includes(text) && !texts.includes(`'${text}'`))).toEqual([]);
  });
});

describe('docs/operations.md', () => {
  const guide = read('docs/operations.md');

  it('docs/operations.md lists every metric with its kind, unit and description', () => {
    const rows = [...guide.matchAll(/^\| `(session_auth\.[\w.]+)` \| (\w+) \| `([^`]+)` \|[^|]*\| ([^|]*?) \|$/gm)];
    const listed = rows.map(([, name, kind, unit, description]) => [name, { kind, unit, description }]);
    expect(METRICS).toMatchObject(Object.fromEntries(listed));
    expect(listed.map(([name]) => name)).toEqual(Object.keys(METRICS));
  });

  it('docs/operations.md contains every metric attribute, and every kind of pruning and of database failure', () => {
    const source = read('libs/auth/src/base/telemetry.ts');
    for (const type of ['PruneKind', 'FailureKind', 'NotWritableKind']) {
      const values = words(source.split(`export type ${type} =`)[1]!.split(';')[0]!, /'(\w+)'/g);
      expect(values.length).toBeGreaterThanOrEqual(3);
      for (const value of values) expect(guide).toContain(`\`${value}\``);
    }
    for (const attribute of words(source, /^ {2}readonly '([\w.]+)'\?:/gm)) {
      expect(guide).toContain(`\n| \`${attribute}\` |`);
    }
  });
});

it('docs/grafana-dashboard.json shows every metric, and queries only series and labels that the library emits', () => {
  const toPrometheus = (name: string): string => name.replaceAll('.', '_');
  // The series of each metric, by the rules of "Prometheus and OpenMetrics Compatibility" of OpenTelemetry.
  const series = Object.entries(METRICS).map(([name, { kind, unit }]) => {
    const base = toPrometheus(name) + (unit === 's' ? '_seconds' : '');
    if (kind === 'histogram') return ['_bucket', '_count', '_sum'].map((suffix) => base + suffix);
    return [kind === 'counter' ? `${base}_total` : base];
  });
  const labels = words(read('libs/auth/src/base/telemetry.ts'), /^ {2}readonly '([\w.]+)'\?:/gm).map(toPrometheus);
  const queries = words(read('docs/grafana-dashboard.json'), /"expr": "(.*)"/g);
  const queried = new Set(queries.flatMap((query) => words(query, /(session_auth_\w+|error_type)/g)));
  expect([...queried].filter((name) => ![...series.flat(), ...labels].includes(name))).toEqual([]);
  expect(series.filter((names) => !names.some((name) => queried.has(name)))).toEqual([]);
});

describe('docs/client-reference.md', () => {
  function namesUnder(heading: string): string[] {
    const section = read('docs/client-reference.md').split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!;
    return words(section, /^\| (`[^|]*) \|/gm).flatMap((cell) => words(cell, /`(\w+)/g));
  }

  it.each([
    ['event', 'Events', 'events.ts', 'interface ClientEvents {', /^ {2}(\w+):/gm],
    ['code', 'Errors', 'errors.ts', 'type ClientErrorCode =', /^ {2}\| '(\w+)'/gm],
    ['option', 'Options', 'options.ts', 'interface AuthClientOptions {', /^ {2}readonly (\w+)\?:/gm],
  ])('the guide lists every %s of the client', (_, heading, file, declaration, pattern) => {
    const [, rest] = read(`libs/client/src/${file}`).split(declaration);
    const names = words(rest!.split(/\n}|;\n\n/)[0]!, pattern);
    expect(names.length).toBeGreaterThan(1);
    expect(namesUnder(heading)).toEqual(names);
  });

  it('the guide lists every method of the client', () => {
    const methods = Object.getOwnPropertyNames(clientLibrary.AuthClient.prototype);
    expect(namesUnder('Methods').sort()).toEqual(methods.filter((name) => name !== 'constructor').sort());
  });
});

it.each([
  ['postgres', 'SHOW transaction_read_only', 'off'],
  ['galera', "SHOW STATUS LIKE 'wsrep_local_state'", 'wsrep_local_state\x014'],
  ['group', "SHOW VARIABLES LIKE 'super_read_only'", 'super_read_only\x03OFF'],
])('the health check of HAProxy in docs/high-availability.md for %s sends "%s"', (name, query, response) => {
  const block = read('docs/high-availability.md').split(`\`\`\`text\nlisten ${name}\n`)[1]!.split('```')[0]!;
  const [sent, expected] = words(block, /binary (\w+)$/gm).map((bytes) => Buffer.from(bytes, 'hex').toString('latin1'));
  expect(sent).toContain(query);
  expect(expected).toMatch(new RegExp(`${response}$`));
});

it.each(documents())('all links of %s lead to existing files and headings', (file) => {
  const readIfThere = (path: string): string | undefined => {
    if (!existsSync(join(ROOT, path))) return undefined;
    return path.endsWith('.md') ? read(path) : '';
  };
  expect(brokenLinks(file, readIfThere)).toEqual([]);
});
