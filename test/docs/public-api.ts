import { AUTH_ENTITIES } from 'nestjs-session-auth';
import { join } from 'node:path';
import * as ts from 'typescript';
import { EXTRA_ROWS, MAPPING_RULES, OPTION_ROWS } from '../../libs/auth/src/options/option-table';
import { documentOf } from '../http/openapi/response-checker';
import type { TestApplication } from '../support/test-application';
import { declaredOptions, defaultOf, rangeOf } from './options-page';

/** The parts of the public API by name. The names of the innermost parts are those that a changeset mentions. */
export interface PublicApi {
  readonly [name: string]: PublicApi | string | readonly string[];
}

/** Returns everything that a release promises to keep: see docs/upgrading.md. */
export function publicApi(app: TestApplication): PublicApi {
  const entries = ['ssr', 'react', 'vue', 'svelte', 'query', 'testing'];
  return sorted({
    exports: {
      ...exportsOf('auth', {
        'nestjs-session-auth': 'index.ts',
        'nestjs-session-auth/testing': 'testing/index.ts',
        'nestjs-session-auth/node-sqlite': 'node-sqlite/index.ts',
      }),
      ...exportsOf('client', {
        'nestjs-session-auth-client': 'index.ts',
        ...Object.fromEntries(entries.map((name) => [`nestjs-session-auth-client/${name}`, `${name}.ts`])),
      }),
    },
    options: options(),
    wire: wire(app),
    columns: columns(app),
  });
}

/** Returns the exports of each entry with their declarations, without docstrings and private members. */
function exportsOf(name: 'auth' | 'client', entries: Readonly<Record<string, string>>): PublicApi {
  const folder = join(__dirname, '../../libs', name);
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.lib.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  const files = Object.values(entries).map((entry) => join(folder, 'src', entry));
  const emitting = { emitDeclarationOnly: true, removeComments: true, noCheck: true };
  const program = ts.createProgram(files, { ...options, ...emitting });
  const declared = new Map<string | undefined, readonly ts.Statement[]>();
  program.emit(undefined, (path, text, _, _onError, sources) => {
    const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
    declared.set(sources?.[0]?.fileName, statements);
  });
  const checker = program.getTypeChecker();
  const declarationOf = (exported: ts.Symbol): string[] => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    const texts = (symbol.declarations ?? []).flatMap((declaration) => {
      const statements = declared.get(declaration.getSourceFile().fileName) ?? [];
      return statements.filter((statement) => namesOf(statement).includes(symbol.name)).map((one) => one.getText());
    });
    return [...new Set(texts)].flatMap((text) => text.split('\n').filter((line) => !/^\s*private /.test(line)));
  };
  const exported = Object.keys(entries).map((entry, index) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(files[index]!)!)!;
    const names = checker.getExportsOfModule(module).map((one) => [one.name, declarationOf(one)]);
    return [entry, Object.fromEntries(names) as PublicApi];
  });
  return Object.fromEntries(exported) as PublicApi;
}

function namesOf(statement: ts.Statement): (string | undefined)[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map((one) => one.name.getText());
  return [(statement as ts.DeclarationStatement).name?.getText()];
}

function options(): PublicApi {
  const declared = declaredOptions();
  const described = [...OPTION_ROWS, ...EXTRA_ROWS].map(([path, row]): [string, string[]] => [
    path,
    [declared.get(path)!.type, defaultOf(path, row), rangeOf(row.rule)],
  ]);
  for (const path of MAPPING_RULES.keys()) described.push([path, [declared.get(path)!.type]]);
  return Object.fromEntries(described.map(([path, facts]) => [path, facts.filter(Boolean).join(', ')]));
}

/** Returns the operations and schemas of the library without their descriptions. */
function wire({ nest }: TestApplication): PublicApi {
  const { paths, components } = documentOf(nest);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { operationId: string }>).map(([method, operation]): [string, object] => [
      operation.operationId,
      { method, path, ...operation },
    ]),
  );
  const schemas = Object.entries(components?.schemas ?? {});
  const own = [...operations, ...schemas].filter(([name]) => /^auth[A-Z]/i.test(name));
  const withoutTexts = (key: string, value: unknown): unknown =>
    ['description', 'summary', 'example', 'tags'].includes(key) && typeof value !== 'object' ? undefined : value;
  return Object.fromEntries(own.map(([name, value]) => [name, JSON.stringify(value, withoutTexts, 1).split('\n')]));
}

function columns({ dataSource }: TestApplication): PublicApi {
  const described = AUTH_ENTITIES.map((entity) => dataSource.getMetadata(entity)).flatMap((table) => [
    ...table.columns.map(({ databaseName, type, length, isPrimary, isNullable }) => [
      `${table.tableName}.${databaseName}`,
      [typeof type === 'string' ? type : type.name, length, isPrimary && 'primary key', isNullable && 'null'],
    ]),
    [
      `${table.tableName} indexes`,
      table.indices.map(
        ({ columns: of, isUnique }) => `(${of.map((one) => one.databaseName).join(', ')})${isUnique ? ' unique' : ''}`,
      ),
    ],
  ]);
  return Object.fromEntries(described.map(([name, facts]) => [name, (facts as string[]).filter(Boolean).join(', ')]));
}

function sorted(api: PublicApi): PublicApi {
  const names = Object.keys(api).sort();
  return Object.fromEntries(names.map((name) => [name, isPart(api[name]!) ? api[name] : sorted(api[name]!)]));
}

const isPart = (value: PublicApi[string]): value is string | readonly string[] =>
  typeof value === 'string' || Array.isArray(value);

/** Returns the names of the parts that two versions of the API do not have in common. */
export function changedParts(one: PublicApi, other: PublicApi): string[] {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => {
    const [before = {}, after = {}] = [one[name], other[name]];
    if (!isPart(before) && !isPart(after)) return changedParts(before, after);
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [name];
  });
}
