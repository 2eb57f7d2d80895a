import type { DataSource } from 'typeorm';
import type { Dialect } from './dialect';
import { ENTITIES_BY_NAME } from './entities';
import type { Query } from './transaction';
import { tablePath } from './typeorm';

export class StatementFactory {
  constructor(
    private readonly dataSource: DataSource,
    readonly dialect: Dialect,
  ) {}

  statement(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES_BY_NAME, template);
  }

  /** Compiles a frequent statement whose text never varies. Each connection prepares it once. */
  prepared(template: string): Statement {
    return new Statement(this.dataSource, ENTITIES_BY_NAME, template, true);
  }
}

/** Formats an integer for SQL. @throws Error for any other value, because the text becomes part of a statement */
export function integerLiteral(milliseconds: number): string {
  if (!Number.isSafeInteger(milliseconds)) throw new Error(`${milliseconds} is not a whole number of milliseconds.`);
  return String(milliseconds);
}

export type ParameterValues = Readonly<Record<string, unknown>>;

const PARAMETER = /:([a-zA-Z]+)(\.\.\.)?/g;

/**
 * A statement that is compiled from a template for the application's DataSource, with its schema, entity prefix and
 * naming strategy. In the template, `{session}` is the table of the entity with this name, `{session.userId}` is one of
 * its columns, `:name` is a parameter and `:name...` is a list of parameters, or of rows.
 */
export class Statement {
  /** The compiled template. It is compiled at the first use, so that the start does not wait for rare statements. */
  private template: string | null = null;
  private parameters: readonly { readonly name: string; readonly isList: boolean }[] = [];
  /** The next call usually has lists of the same lengths. */
  private lastRendered = { lengths: 'none yet', sql: '' };

  constructor(
    private readonly dataSource: DataSource,
    private readonly entities: Readonly<Record<string, new () => object>>,
    private readonly source: string,
    private readonly isPrepared = false,
  ) {}

  /**
   * Binds parameters. Throws if a parameter is missing, because it would otherwise be NULL in a condition.
   * @param more further values. Copying both into one object would slow down a refresh
   */
  with(values: ParameterValues, more: ParameterValues = values): Query {
    const template = (this.template ??= this.compile());
    const params: unknown[] = [];
    let lengths = '';
    for (const { name, isList } of this.parameters) {
      const value = values[name] === undefined ? more[name] : values[name];
      if (value === undefined) throw new Error(`No value for ":${name}". Pass a value for each parameter.`);
      if (!isList) params.push(value);
      else lengths += `${params.push(...(isListOfRows(value) ? value.flat() : (value as unknown[])))},`;
    }
    if (lengths !== this.lastRendered.lengths) this.lastRendered = { lengths, sql: this.render(template, values) };
    return { sql: this.lastRendered.sql, params, isPrepared: this.isPrepared };
  }

  private compile(): string {
    const { dataSource, entities, source } = this;
    const template = source.replace(/\{([a-z]\w*)(?:\.([\w.]+))?\}/g, (_, entity: string, property?: string) => {
      const target = entities[entity];
      if (!target) throw new Error(`No entity "${entity}" for the statement: ${source}`);
      const metadata = dataSource.getMetadata(target);
      if (property === undefined) return tablePath(dataSource, metadata);
      // The property can be a path to a property of an embedded entity.
      const column = metadata.findColumnWithPropertyPath(property);
      if (!column) throw new Error(`The entity ${metadata.name} has no column "${property}".`);
      return dataSource.driver.escape(column.databaseName);
    });
    this.parameters = [...template.matchAll(PARAMETER)].map(([, name, dots]) => ({ name: name!, isList: !!dots }));
    return template;
  }

  private render(template: string, values: ParameterValues): string {
    const isPostgres = this.dataSource.options.type === 'postgres';
    let index = 0;
    const placeholder = (): string => (isPostgres ? `$${++index}` : '?');
    const list = (items: readonly unknown[]): string => items.map(placeholder).join(', ');
    return template.replace(PARAMETER, (_, name: string, dots?: string) => {
      const value = values[name];
      if (!dots) return placeholder();
      return isListOfRows(value) ? value.map((row) => `(${list(row)})`).join(', ') : list(value as unknown[]);
    });
  }
}

function isListOfRows(value: unknown): value is readonly (readonly unknown[])[] {
  return Array.isArray(value) && Array.isArray(value[0]);
}

/** Returns an INSERT of one row, whose parameters have the names of the properties. */
export function insertion(entity: string, properties: string): string {
  const names = properties.split(/\s+/);
  const inserted = names.map((name) => `{${entity}.${name}}`).join(', ');
  return `INSERT INTO {${entity}} (${inserted}) VALUES (:${names.join(', :')})`;
}

/** Returns columns for a SELECT, each aliased to the snake case of its property, which all drivers return unchanged. */
export function columns(entity: string, properties: string, alias = ''): string {
  const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const select = (property: string): string => `${alias}{${entity}.${property}} AS ${snakeCase(property)}`;
  return properties.split(/\s+/).map(select).join(', ');
}
