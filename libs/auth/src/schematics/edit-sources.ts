import { posix } from 'node:path';
import type * as ts from 'typescript';

/** The TypeScript of the application. */
export type TypeScript = typeof ts;

/** Where the users are: in the library's own table, or in a table of the application. */
export type Users = 'own' | 'mapped';

/** Source files by path. */
export type Sources = Readonly<Record<string, string>>;

/** The code is none that the schematic can edit. The message says why. */
export class NotUnderstood extends Error {}

/** The expression around which `withAuthTables()` belongs. 'done': it is already there. Null: not found. */
type Target = { readonly path: string; readonly node: ts.Expression } | 'done' | null;

/** Returns the files that change when the library is added to the root module. @throws NotUnderstood */
export function addAuth(compiler: TypeScript, sources: Sources, modulePath: string, users: Users): Sources {
  const editor = new SourceEditor(compiler, sources, users);
  editor.addModules(modulePath);
  editor.addTables();
  return editor.edited();
}

class SourceEditor {
  private readonly files = new Map<string, ts.SourceFile>();
  /** The texts to insert in each file, by position. */
  private readonly insertions = new Map<string, Map<number, string>>();
  private readonly imports = new Map<string, string[]>();
  private readonly wrapped = new Set<ts.Node>();

  constructor(
    private readonly ts: TypeScript,
    private readonly sources: Sources,
    private readonly users: Users,
  ) {
    for (const [path, text] of Object.entries(sources)) {
      this.files.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
    }
  }

  /** Adds the modules to the `imports` of the root module, unless a file imports them. */
  addModules(path: string): void {
    const file = this.files.get(path);
    if (!file) throw new NotUnderstood(`there is no file ${path}`);
    const texts: string[] = [];
    if (!this.isImported('EventEmitterModule', '@nestjs/event-emitter')) {
      this.import(path, 'EventEmitterModule', '@nestjs/event-emitter');
      texts.push('EventEmitterModule.forRoot()');
    }
    if (!this.isImported('AuthModule', 'nestjs-session-auth')) {
      // Many applications have an AuthModule.
      const isTaken = /\bAuthModule\b/.test(file.text);
      this.import(path, isTaken ? 'AuthModule as SessionAuthModule' : 'AuthModule', 'nestjs-session-auth');
      texts.push(`${isTaken ? 'SessionAuthModule' : 'AuthModule'}.forRoot()`);
    }
    if (texts.length > 0) this.append(path, this.moduleImports(file), texts);
  }

  /** Passes the options of `TypeOrmModule` and of each `new DataSource()` through `withAuthTables()`. */
  addTables(): void {
    const roots = this.find((node) => /^TypeOrmModule\s*\.\s*forRoot(Async)?$/.test(this.calleeOf(node)));
    if (roots.length !== 1) throw new NotUnderstood(`TypeOrmModule.forRoot[Async]() is called ${roots.length} times`);
    const [[path, call]] = roots as [[string, ts.CallExpression]];
    if (this.calleeOf(call).endsWith('Async')) {
      for (const returned of this.returnedBy(call.arguments[0])) {
        const target = this.targetOf(path, returned);
        // What any other expression returns may be a promise.
        if (target !== 'done' && (!target || !this.isLiteral(target.node))) throw this.unclear(path, returned);
        this.wrap(target);
      }
    } else {
      const [options] = call.arguments;
      if (!options) throw this.unclear(path, call);
      this.wrap(this.targetOf(path, options) ?? { path, node: options });
    }
    // Other packages have a class of this name too.
    const isCreated = (node: ts.Node): boolean =>
      this.ts.isNewExpression(node) &&
      node.expression.getText() === 'DataSource' &&
      this.importOf(node.getSourceFile(), 'DataSource', 'typeorm') !== undefined;
    const created = this.find(isCreated);
    for (const [where, node] of created as [string, ts.NewExpression][]) {
      if (node.arguments?.[0]) this.wrap(this.targetOf(where, node.arguments[0]));
    }
  }

  /** @throws NotUnderstood if an edited file would not be valid */
  edited(): Sources {
    for (const [path, names] of this.imports) this.insertImports(path, names);
    const edited: Record<string, string> = {};
    for (const [path, insertions] of this.insertions) {
      let text = this.sources[path]!;
      const descending = [...insertions].sort(([one], [other]) => other - one);
      for (const [at, inserted] of descending) text = text.slice(0, at) + inserted + text.slice(at);
      const { diagnostics = [] } = this.ts.transpileModule(text, { reportDiagnostics: true });
      if (diagnostics.length > 0) throw new NotUnderstood(`${path} has syntax errors`);
      edited[path] = text;
    }
    return edited;
  }

  private find(matches: (node: ts.Node) => boolean, inside?: ts.Node): [string, ts.Node][] {
    const found: [string, ts.Node][] = [];
    for (const [path, file] of this.files) {
      const visit = (node: ts.Node): void => {
        if (matches(node)) found.push([path, node]);
        this.ts.forEachChild(node, visit);
      };
      if (!inside || inside.getSourceFile() === file) visit(inside ?? file);
    }
    return found;
  }

  private calleeOf(node: ts.Node): string {
    return this.ts.isCallExpression(node) ? node.expression.getText() : '';
  }

  private isLiteral(node: ts.Expression): boolean {
    const inner = this.ts.isParenthesizedExpression(node) ? node.expression : node;
    return this.ts.isObjectLiteralExpression(inner);
  }

  private unclear(path: string, node: ts.Node): NotUnderstood {
    const { line } = node.getSourceFile().getLineAndCharacterOfPosition(node.getStart());
    return new NotUnderstood(`the options of TypeORM at ${path}:${line + 1} are not an object or a variable with one`);
  }

  private isImported(name: string, from: string): boolean {
    return [...this.files.values()].some((file) => this.importOf(file, name, from));
  }

  /** Returns the import of a name. Without `from`, the name is the local one. */
  private importOf(file: ts.SourceFile, name: string, from?: string): [string, string] | undefined {
    for (const statement of file.statements.filter((one) => this.ts.isImportDeclaration(one))) {
      const bindings = statement.importClause?.namedBindings;
      if (!bindings || !this.ts.isNamedImports(bindings)) continue;
      const module = (statement.moduleSpecifier as ts.StringLiteral).text;
      for (const element of bindings.elements) {
        const exported = (element.propertyName ?? element.name).text;
        if (from ? module === from && exported === name : element.name.text === name) return [exported, module];
      }
    }
    return undefined;
  }

  /** Returns the list `imports` of the only module in the file. */
  private moduleImports(file: ts.SourceFile): ts.ArrayLiteralExpression {
    const isModule = (node: ts.Node): boolean =>
      this.ts.isDecorator(node) && this.calleeOf(node.expression) === 'Module';
    const modules = this.find(isModule, file) as [string, ts.Decorator][];
    const metadata = (modules[0]?.[1].expression as ts.CallExpression | undefined)?.arguments[0];
    const list = metadata && this.property(metadata, 'imports');
    if (modules.length !== 1 || !list || !this.ts.isArrayLiteralExpression(list)) {
      throw new NotUnderstood(`${file.fileName} has no single @Module({ imports: [] })`);
    }
    return list;
  }

  private property(node: ts.Node, name: string): ts.Expression | undefined {
    if (!this.ts.isObjectLiteralExpression(node)) return undefined;
    const found = node.properties.find((one) => one.name?.getText() === name);
    return found && this.ts.isPropertyAssignment(found) ? found.initializer : undefined;
  }

  private returnedBy(options: ts.Expression | undefined): ts.Expression[] {
    const factory = options && this.property(options, 'useFactory');
    if (factory && (this.ts.isArrowFunction(factory) || this.ts.isFunctionExpression(factory))) {
      const { body } = factory;
      if (!this.ts.isBlock(body)) return [body];
      const returns = this.find((node) => this.ts.isReturnStatement(node), body) as [string, ts.ReturnStatement][];
      const functionOf = (node: ts.Node) => this.ts.findAncestor(node, (one) => this.ts.isFunctionLike(one));
      const own = returns.filter(([, node]) => functionOf(node) === factory);
      const expressions = own.map(([, node]) => node.expression);
      if (own.length > 0 && expressions.every((one) => one !== undefined)) return expressions;
    }
    throw new NotUnderstood('TypeOrmModule.forRootAsync() has no useFactory that returns the options');
  }

  /** Follows variables, also through relative imports and `{ ...options }`, to the expression with the options. */
  private targetOf(path: string, node: ts.Expression): Target {
    const inner = this.ts.isParenthesizedExpression(node) ? node.expression : node;
    if (this.calleeOf(inner) === 'withAuthTables') return 'done';
    if (this.ts.isIdentifier(inner)) return this.variable(path, inner.text);
    if (!this.ts.isObjectLiteralExpression(inner)) return { path, node };
    const hasLists = inner.properties.some((one) => ['entities', 'migrations'].includes(one.name?.getText() ?? ''));
    const spread = hasLists ? undefined : inner.properties.find((one) => this.ts.isSpreadAssignment(one));
    const found = spread && this.ts.isIdentifier(spread.expression) && this.variable(path, spread.expression.text);
    return found || { path, node };
  }

  private variable(path: string, name: string): Target {
    const file = this.files.get(path)!;
    for (const statement of file.statements.filter((one) => this.ts.isVariableStatement(one))) {
      const declared = statement.declarationList.declarations.find((one) => one.name.getText() === name);
      if (declared?.initializer) return this.targetOf(path, declared.initializer);
    }
    const [exported, module] = this.importOf(file, name) ?? [];
    if (!exported || !module?.startsWith('.')) return null;
    const base = posix.join(posix.dirname(path), module.replace(/\.js$/, ''));
    const found = [`${base}.ts`, `${base}/index.ts`].find((one) => this.files.has(one));
    return found && found !== path ? this.variable(found, exported) : null;
  }

  private wrap(target: Target): void {
    if (!target || target === 'done' || this.wrapped.has(target.node)) return;
    const { path, node } = target;
    this.wrapped.add(node);
    const more = this.users === 'mapped' ? ', { usersTable: false }' : '';
    const hasParentheses = this.ts.isParenthesizedExpression(node);
    this.insert(path, node.getStart(), hasParentheses ? 'withAuthTables' : 'withAuthTables(');
    this.insert(path, hasParentheses ? node.end - 1 : node.end, hasParentheses ? more : `${more})`);
    if (!this.importOf(this.files.get(path)!, 'withAuthTables'))
      this.import(path, 'withAuthTables', 'nestjs-session-auth');
  }

  private append(path: string, { elements, end }: ts.ArrayLiteralExpression, texts: readonly string[]): void {
    const last = elements.at(-1);
    if (!last) return this.insert(path, end - 1, texts.join(', '));
    const gap = /^\s*/.exec(this.sources[path]!.slice(last.getFullStart()))![0];
    const separator = gap.includes('\n') ? `,\n${gap.slice(gap.lastIndexOf('\n') + 1)}` : ', ';
    this.insert(path, last.end, texts.map((text) => separator + text).join(''));
  }

  private import(path: string, name: string, from: string): void {
    this.imports.set(path, [...(this.imports.get(path) ?? []), `${from} ${name}`]);
  }

  private insertImports(path: string, names: readonly string[]): void {
    const file = this.files.get(path)!;
    const last = file.statements.findLast((one) => this.ts.isImportDeclaration(one));
    const quote = last?.moduleSpecifier.getText()[0] ?? "'";
    const lines = [...new Set(names.map((one) => one.split(' ')[0]!))].map((from) => {
      const imported = names.filter((one) => one.startsWith(`${from} `)).map((one) => one.slice(from.length + 1));
      return `import { ${imported.join(', ')} } from ${quote}${from}${quote};`;
    });
    const text = lines.join('\n');
    this.insert(path, last?.end ?? file.getStart(), last ? `\n${text}` : `${text}\n`);
  }

  private insert(path: string, at: number, text: string): void {
    const insertions = this.insertions.get(path) ?? new Map<number, string>();
    this.insertions.set(path, insertions.set(at, (insertions.get(at) ?? '') + text));
  }
}
