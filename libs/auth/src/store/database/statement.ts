import type { DataSource, EntityMetadata } from 'typeorm';
import type { Query } from './transaction';

/** An entity class, or nothing where a template does not use the name. */
type TemplateEntities = Readonly<Record<string, new () => object>>;

/** Parameters by name. */
export type ParameterValues = Readonly<Record<string, unknown>>;

/**
 * A statement, written once with the names of entities and properties and compiled for the application's DataSource, so that its
 * schema, entity prefix and naming strategy hold.
 *
 * In the template `{session}` is the table of that entity, `{session.userId}` a column of it, and `:name` a parameter;
 * `:name...` is a list. A name that does not exist stops the start, not a request.
 */
export class Statement {
  private readonly parts: readonly string[];
  private readonly parameters: readonly { readonly name: string; readonly isList: boolean }[];
  private readonly placeholder: (index: number) => string;
  /** The text for lists of these lengths, which the next call mostly has too. */
  private last = { lengths: 'none yet', sql: '' };

  constructor(
    dataSource: DataSource,
    entities: TemplateEntities,
    template: string,
    /** Whether the server prepares it once per connection. */
    private readonly isPrepared = false,
  ) {
    const named = resolveNames(dataSource, entities, template);
    const pieces = named.split(/:([a-zA-Z]+(?:\.\.\.)?)/);
    this.parts = pieces.filter((_, index) => index % 2 === 0);
    this.parameters = pieces
      .filter((_, index) => index % 2 === 1)
      .map((name) => ({ name: name.replace('...', ''), isList: name.endsWith('...') }));
    this.placeholder = dataSource.options.type === 'postgres' ? (index) => `$${index}` : () => '?';
  }

  /** The statement with its parameters. One that is missing is an error here, never a NULL in a condition. */
  with(values: ParameterValues): Query {
    const params: unknown[] = [];
    let lengths = '';
    for (const { name, isList } of this.parameters) {
      const value = values[name];
      if (value === undefined) throw new Error(`No value for ":${name}".`);
      if (!isList) params.push(value);
      else lengths += `${params.push(...(value as unknown[]))},`;
    }
    if (lengths !== this.last.lengths) this.last = { lengths, sql: this.write(values) };
    return { sql: this.last.sql, params, isPrepared: this.isPrepared };
  }

  private write(values: ParameterValues): string {
    let index = 0;
    const placeholder = (): string => this.placeholder(++index);
    return this.parts.reduce((written, part, partIndex) => {
      const { name, isList } = this.parameters[partIndex - 1]!;
      const placeholders = isList ? (values[name] as unknown[]).map(placeholder).join(', ') : placeholder();
      return written + placeholders + part;
    });
  }
}

function resolveNames(dataSource: DataSource, entities: TemplateEntities, template: string): string {
  const escape = (name: string): string => dataSource.driver.escape(name);
  return template.replace(/\{(\w+)(?:\.([\w.]+))?\}/g, (_, entity: string, property?: string) => {
    const target = entities[entity];
    if (!target) throw new Error(`No entity "${entity}" for the statement: ${template}`);
    const metadata = dataSource.getMetadata(target);
    return property === undefined
      ? metadata.tablePath.split('.').map(escape).join('.')
      : escape(columnName(metadata, property));
  });
}

/** The column of a property, embedded ones included. */
export function columnName(metadata: EntityMetadata, property: string): string {
  const column = metadata.findColumnWithPropertyPath(property);
  if (!column) throw new Error(`The entity ${metadata.name} has no column "${property}".`);
  return column.databaseName;
}

/** Columns for a SELECT, each under the name of its property in snake case: drivers return such names as they are. */
export function columns(entity: string, properties: string, alias = ''): string {
  const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const select = (property: string): string => `${alias}{${entity}.${property}} AS ${snakeCase(property)}`;
  return properties.split(/\s+/).map(select).join(', ');
}

/** A name for the nth of many parameters: names are letters. */
export function letters(index: number): string {
  return String.fromCharCode(65 + Math.floor(index / 26), 97 + (index % 26));
}
