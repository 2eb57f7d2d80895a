import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';
import {
  EXTRA_ROWS,
  MAPPING_RULES,
  OPTION_ROWS,
  type OptionRow,
  REQUIRED_IN_MAPPING,
} from '../../libs/auth/src/options/option-table';

const PAGE = join(__dirname, '../../docs/options.md');
const SOURCES = join(__dirname, '../../libs/auth/src');
const INTERFACES = {
  AuthModuleOptions: { file: 'options/auth-options.ts', prefix: '' },
  AuthModuleExtras: { file: 'options/auth-options.ts', prefix: '' },
  UserEntityMapping: { file: 'adapters/user-store.ts', prefix: 'users.' },
};

/** The files that declare the union types of options. */
const UNIONS = ['options/auth-options.ts', 'base/fields.ts'];

export interface DeclaredOption {
  readonly type: string;
  /** The docstring in one line, including the default. */
  readonly docstring: string;
}

export function declaredOptions(): Map<string, DeclaredOption> {
  const declared = new Map<string, DeclaredOption>();
  for (const [name, { file, prefix }] of Object.entries(INTERFACES)) {
    const text = readFileSync(join(SOURCES, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
    const found = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
    declareMembers((found as ts.InterfaceDeclaration).members, prefix, declared);
  }
  return declared;
}

function declareMembers(
  members: readonly ts.TypeElement[],
  prefix: string,
  declared: Map<string, DeclaredOption>,
): void {
  for (const member of members) {
    if (!ts.isPropertySignature(member)) continue;
    const path = prefix + member.name.getText();
    const type = member.type!;
    if (ts.isTypeLiteralNode(type)) declareMembers(type.members, `${path}.`, declared);
    else {
      const docstring = ts.getJSDocCommentsAndTags(member).map((one) => ts.getTextOfJSDocComment(one.comment) ?? '');
      declared.set(path, { type: written(type.getText()), docstring: docstring.join(' ').replaceAll(/\s+/g, ' ') });
    }
  }
}

/** Returns a type as text, with the values of a union instead of its name. */
function written(type: string): string {
  const unions = UNIONS.flatMap((file) => [
    ...readFileSync(join(SOURCES, file), 'utf8').matchAll(/^export type (\w+) = ('[^;]+');/gm),
  ]);
  const named = type.replace(/ \| undefined$/, '').replace(/^readonly /, '');
  return unions.reduce((text, [, name, values]) => text.replace(new RegExp(`\\b${name}\\b`), values!), named);
}

/** Returns the default of an option as text, or an empty text if it is not a constant. */
export function defaultOf(path: string, { default: value }: Pick<OptionRow, 'default'>): string {
  if (value === undefined || path === 'hashing.concurrent') return '';
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

export function rangeOf({ expected }: OptionRow['rule']): string {
  return /^a whole number (?:of seconds )?(?:from |of (?=at least))(.+?)(?:, or false)?$/.exec(expected)?.[1] ?? '';
}

/** Returns docs/options.md with a current text below the heading of each option. */
export function optionsPage(): string {
  const declared = declaredOptions();
  const sections = readFileSync(PAGE, 'utf8').split(/^(?=##)/m);
  const current = sections.map((section) => {
    const path = /^### `(.+)`\n/.exec(section)?.[1];
    return path ? entry(path, declared.get(path)!) : section;
  });
  return `${current.join('').trimEnd()}\n`;
}

function entry(path: string, { type, docstring }: DeclaredOption): string {
  const row = OPTION_ROWS.get(path) ?? EXTRA_ROWS.get(path);
  const range = rangeOf(row?.rule ?? MAPPING_RULES.get(path)!);
  const [meaning, given] = docstring.split(/ ?Default: (?=[^.]*\.?[^.]*\.$)/) as [string, string?];
  const bounds = range ? `, ${range}` : '';
  return `### \`${path}\`

\`${type}\`${bounds}. ${defaultLine(path, row, given)}

${range ? meaning.replace(`, ${range}`, '') : meaning}

`;
}

function defaultLine(path: string, row: OptionRow | undefined, given: string | undefined): string {
  if (!row) return REQUIRED_IN_MAPPING.includes(path) ? 'Required.' : 'Optional.';
  const value = defaultOf(path, row);
  return `Default: ${value ? given?.replace(value, () => `\`${value}\``) : given}`;
}
