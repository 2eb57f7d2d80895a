import type { EntityMetadata } from 'typeorm';
import type { UserEntityMapping } from '../adapters/user-store';

/** Returns an expression for the `AccountStatus` of the row `u`. */
export function statusSql({ active, disabledAt }: UserEntityMapping, { deleteDateColumn }: EntityMetadata): string {
  const deletedAt = deleteDateColumn?.propertyPath;
  const cases = [
    ...(deletedAt ? [`WHEN u.{user.${deletedAt}} IS NOT NULL THEN 'deleted'`] : []),
    ...(active ? [`WHEN u.{user.${active}} THEN 'active'`] : []),
    ...(disabledAt ? [`WHEN u.{user.${disabledAt}} IS NOT NULL THEN 'disabled'`] : []),
  ];
  const otherwise = active ? `'disabled'` : `'active'`;
  return cases.length === 0 ? otherwise : `CASE ${cases.join(' ')} ELSE ${otherwise} END`;
}
