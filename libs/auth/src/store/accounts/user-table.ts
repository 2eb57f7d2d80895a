import type { DataSource, EntityMetadata } from 'typeorm';
import type { UserEntityMapping } from '../../domain/ports/accounts';
import type { Clock } from '../../domain/ports/platform';

/** A column of an entity, as TypeORM describes it. */
export type Column = EntityMetadata['columns'][number];

/** The table of a mapped entity: its columns, and how it stores that a user is disabled. */
export class UserTable {
  readonly metadata: EntityMetadata;
  readonly idColumn: Column;
  /** The property that is written when a user is disabled or enabled; null where the mapping names none. */
  readonly statusProperty: string | null;

  constructor(
    readonly dataSource: DataSource,
    readonly mapping: UserEntityMapping,
    private readonly clock: Clock,
  ) {
    this.metadata = dataSource.getMetadata(mapping.entity);
    this.idColumn = this.metadata.primaryColumns[0]!;
    this.statusProperty = mapping.active ?? mapping.disabledAt ?? null;
  }

  /** A row of these values by property, embedded properties included. */
  newRow(values: Readonly<Record<string, unknown>>): object {
    const row = {};
    for (const [property, value] of Object.entries(values)) {
      this.metadata.findColumnWithPropertyPath(property)!.setEntityValue(row, value);
    }
    return row;
  }

  /** An expression for the status of the account in the row `u`. */
  statusSql(): string {
    const { active, disabledAt } = this.mapping;
    const deletedAt = this.metadata.deleteDateColumn?.propertyPath;
    const conditions = [
      ...(deletedAt ? [`WHEN u.{user.${deletedAt}} IS NOT NULL THEN 'deleted'`] : []),
      ...(active ? [`WHEN u.{user.${active}} THEN 'active' ELSE 'disabled'`] : []),
      ...(disabledAt ? [`WHEN u.{user.${disabledAt}} IS NOT NULL THEN 'disabled'`] : []),
    ];
    if (conditions.length === 0) return `'active'`;
    return `CASE ${conditions.join(' ')}${active ? '' : ` ELSE 'active'`} END`;
  }

  /** The value of the status property, as the driver takes it. */
  statusValue(active: boolean): unknown {
    const { disabledAt } = this.mapping;
    if (!disabledAt) return active;
    const column = this.metadata.findColumnWithPropertyPath(disabledAt)!;
    return active ? null : this.dataSource.driver.preparePersistentValue(new Date(this.clock.now()), column);
  }
}
