import type { DataSource, EntityMetadata } from 'typeorm';
import type { NewUser, UserEntityMapping } from '../../domain/ports/accounts';
import type { Clock } from '../../domain/ports/platform';

/** A column of an entity, as TypeORM describes it. */
export type Column = EntityMetadata['columns'][number];

/** The table of a mapped entity: its columns, and how it stores whether a user is disabled. */
export class UserTable {
  readonly metadata: EntityMetadata;
  readonly idColumn: Column;
  readonly hashColumn: Column;
  /** The property that is written when a user is disabled or enabled, or null if the mapping has none. */
  readonly statusProperty: string | null;

  constructor(
    readonly dataSource: DataSource,
    readonly mapping: UserEntityMapping,
    private readonly clock: Clock,
  ) {
    this.metadata = dataSource.getMetadata(mapping.entity);
    this.idColumn = this.metadata.primaryColumns[0]!;
    this.hashColumn = this.metadata.findColumnWithPropertyPath(mapping.passwordHash)!;
    this.statusProperty = mapping.active ?? mapping.disabledAt ?? null;
  }

  /**
   * Returns the row of a new user. A property path such as `profile.phone` sets a property of an
   * embedded entity.
   * @throws Error if one of `properties` is not a column of the entity, or is mapped by the option `users`
   */
  newRow({ username, passwordHash, properties = {} }: NewUser, nameKey: string): object {
    const { mapping } = this;
    for (const name of Object.keys(properties)) this.assertSettable(name);
    const values = {
      ...properties,
      [mapping.username]: username,
      ...(mapping.foldedUsername ? { [mapping.foldedUsername]: nameKey } : {}),
      [mapping.passwordHash]: passwordHash,
      ...(mapping.active ? { [mapping.active]: true } : {}),
    };
    const row = {};
    for (const [property, value] of Object.entries(values)) {
      this.metadata.findColumnWithPropertyPath(property)!.setEntityValue(row, value);
    }
    return row;
  }

  /** Returns an expression for the status of the account in the row `u`. */
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

  /** Returns the value of the status property in the form that the driver expects. */
  statusValue(active: boolean): unknown {
    const { disabledAt } = this.mapping;
    if (!disabledAt) return active;
    const column = this.metadata.findColumnWithPropertyPath(disabledAt)!;
    return active ? null : this.dataSource.driver.preparePersistentValue(new Date(this.clock.now()), column);
  }

  private assertSettable(property: string): void {
    const { entity, ...mapped } = this.mapping;
    const isMapped = (name: string): boolean => Object.values(mapped).includes(name);
    const stored = this.metadata.columns.filter((column) => !column.isVirtualProperty);
    if (!isMapped(property) && stored.some(({ propertyPath }) => propertyPath === property)) return;
    const reason = isMapped(property) ? 'which the option users maps' : `which is not a column of ${entity.name}`;
    const free = stored.map(({ propertyPath }) => propertyPath).filter((name) => !isMapped(name));
    throw new Error(`createUser was given the property '${property}', ${reason}; use one of ${free.join(', ')}`);
  }
}
