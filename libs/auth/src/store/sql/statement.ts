import type { DataSource, EntityMetadata } from 'typeorm';
import type { Query } from './unit';

/** An entity class, or nothing where a template does not use the name. */
export type TemplateEntities = Readonly<Record<string, new () => object>>;

/**
 * A statement, written once with the names of entities and properties and compiled for the host's DataSource, so that its
 * schema, entity prefix and naming strategy hold.
 *
 * In the template `{session}` is the table of that entity, `{session.userId}` a column of it, and `:name` a parameter;
 * `:name...` is a list. A name that does not exist stops the start, not a request.
 */
export class Statement {
  private readonly parts: readonly string[];
  private readonly names: readonly string[];
  private readonly placeholder: (index: number) => string;

  constructor(dataSource: DataSource, entities: TemplateEntities, template: string) {
    const named = resolveNames(dataSource, entities, template);
    const pieces = named.split(/:([a-zA-Z]+(?:\.\.\.)?)/);
    this.parts = pieces.filter((_, index) => index % 2 === 0);
    this.names = pieces.filter((_, index) => index % 2 === 1);
    this.placeholder = dataSource.options.type === 'postgres' ? (index) => `$${index}` : () => '?';
  }

  /** The statement with its parameters. One that is missing is an error here, never a NULL in a condition. */
  with(values: Readonly<Record<string, unknown>>): Query {
    const params: unknown[] = [];
    const placeholderFor = (value: unknown): string => this.placeholder(params.push(value));
    const sql = this.parts.reduce((written, part, index) => {
      const name = this.names[index - 1]!;
      const isList = name.endsWith('...');
      const value = values[isList ? name.slice(0, -3) : name];
      if (value === undefined) throw new Error(`No value for ":${name}".`);
      const placeholders = isList ? (value as unknown[]).map(placeholderFor).join(', ') : placeholderFor(value);
      return written + placeholders + part;
    });
    return { sql, params };
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

/** A name for the nth of many parameters: names are letters. */
export function letters(index: number): string {
  return String.fromCharCode(65 + Math.floor(index / 26), 97 + (index % 26));
}
