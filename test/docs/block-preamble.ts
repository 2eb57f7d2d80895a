import ts from 'typescript';

const parse = (code: string): ts.SourceFile => ts.createSourceFile('block.tsx', code, ts.ScriptTarget.ES2022);

/**
 * Returns the code that precedes a block: the imports of earlier blocks, and the imports and declarations of the
 * document's context. Names that the block imports or declares itself are omitted.
 */
export function preambleOf(code: string, context: string, earlier: readonly string[]): string {
  const taken = new Set(parse(code).statements.flatMap(namesOf));
  const lines: string[] = [];
  for (const text of [context, ...earlier]) {
    const file = parse(text);
    for (const statement of file.statements) {
      if (ts.isImportDeclaration(statement)) lines.push(...importsWithout(statement, taken));
      else if (text === context && !namesOf(statement).some((name) => taken.has(name))) {
        lines.push(statement.getText(file));
      }
    }
    const added = file.statements.filter((statement) => text === context || ts.isImportDeclaration(statement));
    added.flatMap(namesOf).forEach((name) => taken.add(name));
  }
  return lines.join('\n');
}

/** Returns one import for each name that is not taken yet. */
function importsWithout(statement: ts.ImportDeclaration, taken: ReadonlySet<string>): string[] {
  const { text: from } = statement.moduleSpecifier as ts.StringLiteral;
  const { name, namedBindings } = statement.importClause ?? {};
  const whole = [
    ...(name ? [{ local: name.text, clause: name.text }] : []),
    ...(namedBindings && ts.isNamespaceImport(namedBindings)
      ? [{ local: namedBindings.name.text, clause: `* as ${namedBindings.name.text}` }]
      : []),
    ...(namedBindings && ts.isNamedImports(namedBindings)
      ? namedBindings.elements.map((one) => ({ local: one.name.text, clause: `{ ${specifier(one)} }` }))
      : []),
  ];
  const word = statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'import type' : 'import';
  return whole.filter(({ local }) => !taken.has(local)).map(({ clause }) => `${word} ${clause} from '${from}';`);
}

function specifier({ isTypeOnly, propertyName, name }: ts.ImportSpecifier): string {
  const renamed = propertyName ? `${propertyName.text} as ${name.text}` : name.text;
  return isTypeOnly ? `type ${renamed}` : renamed;
}

/** Returns the names that a statement imports or declares. */
function namesOf(statement: ts.Statement): string[] {
  if (ts.isImportDeclaration(statement)) {
    const { name, namedBindings } = statement.importClause ?? {};
    const bound =
      namedBindings &&
      (ts.isNamespaceImport(namedBindings) ? [namedBindings.name] : namedBindings.elements.map((one) => one.name));
    return [...(name ? [name] : []), ...(bound ?? [])].map(({ text }) => text);
  }
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  }
  if (ts.isClassDeclaration(statement) || ts.isFunctionDeclaration(statement))
    return statement.name ? [statement.name.text] : [];
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return [statement.name.text];
  return [];
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((one) => (ts.isOmittedExpression(one) ? [] : boundNames(one.name)));
}
