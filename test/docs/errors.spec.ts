import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthError, type AuthErrorCode } from 'nestjs-session-auth';
import { ERROR_RESPONSES } from '../../libs/auth/src/base/errors';
import { headersOf } from '../../libs/auth/src/http/wire-format';

const read = (file: string): string => readFileSync(join(__dirname, '../..', file), 'utf8');
const CODES = Object.keys(ERROR_RESPONSES) as AuthErrorCode[];
const MESSAGE = 'message';

/** A row of the table of errors. */
interface Row {
  readonly code: AuthErrorCode;
  readonly status: number;
  readonly body: Readonly<Record<string, string | string[]>>;
  readonly when: string;
}

function rowsOf(section: string): Row[] {
  return [...section.matchAll(/^\| `(\w+)` \| (\d+) \| `([^`]+)` \| (.*) \|$/gm)].map(
    ([, code, status, body, when]) => ({
      code: code as AuthErrorCode,
      status: Number(status),
      body: JSON.parse(body!.replace(/(?<=[:[] ?)message\b/g, `"${MESSAGE}"`)) as Row['body'],
      when: when!,
    }),
  );
}

const rows = rowsOf(read('docs/errors.md'));

describe('the table of docs/errors.md', () => {
  it('the table of errors lists every code once, sorted by status', () => {
    expect(rows.map(({ code }) => code).sort()).toEqual([...CODES].sort());
    expect(rows.map(({ status }) => status)).toEqual(rows.map(({ status }) => status).sort());
  });

  it.each(rows)(
    'the table of errors contains the status, body and headers of $code',
    ({ code, status, body, when }) => {
      const message = [Object.values(body)[0]!].flat()[0]!;
      const error = new AuthError(code, message, { '<field>': [message] });
      expect({ status, body }).toEqual({ status: error.getStatus(), body: error.getResponse() });
      expect(message).toBe(ERROR_RESPONSES[code].message ?? message);
      for (const [name, value] of Object.entries(headersOf(error))) {
        expect(when).toContain(name === 'Retry-After' ? name : `${name}: ${value}`);
      }
    },
  );

  it('every message in the table of errors exists in the library', () => {
    const quoted = rows.flatMap(({ body }) => Object.values(body).flat()).filter((text) => text.includes(' '));
    const sources = ['base/errors', 'accounts/accounts', 'passwords/replace-password', 'http/platform'];
    const texts = sources.map((path) => read(`libs/auth/src/${path}.ts`)).join('\n');
    const standard = Object.values(ERROR_RESPONSES).map(({ message }) => message);
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter((text) => !standard.includes(text) && !texts.includes(`'${text}'`))).toEqual([]);
  });
});
