import { AUTH_ENTITIES_WITHOUT_USERS, type AuthModuleOptions, type UserEntityMapping } from 'nestjs-session-auth';
import { Column, type ColumnOptions, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TestApplicationOptions } from './test-application';

export const GENERATED_ID = { type: Number, primary: true, generated: true } as const;
export const TEXT_ID = { type: 'varchar', primary: true } as const;
export const TEXT = { type: 'varchar' } as const;
export const UNIQUE_TEXT = { type: 'varchar', unique: true } as const;
export const OPTIONAL_TEXT = { type: 'varchar', nullable: true } as const;
export const TRUE_BY_DEFAULT = { type: Boolean, default: true } as const;

/** The type of a property, by the options of its column. Columns without a class as their type contain text. */
type ValueOf<C extends ColumnOptions> =
  | (C extends { type: DateConstructor } ? Date : C extends { type: () => infer Value } ? Value : string)
  | (C extends { nullable: true } ? null : never);

/** Returns an entity with this name and these columns. */
export function entityOf<const Columns extends Readonly<Record<string, ColumnOptions>>>(
  name: string,
  columns: Columns,
): new () => { -readonly [Property in keyof Columns]: ValueOf<Columns[Property]> } {
  const { [name]: type } = { [name]: class {} };
  for (const [property, { generated, ...column }] of Object.entries<ColumnOptions>(columns)) {
    const decorate = generated ? PrimaryGeneratedColumn() : Column(column);
    decorate(type!.prototype as object, property);
  }
  Entity()(type!);
  return type as never;
}

/** An entity with a list of roles, and its mapping. */
export const MemberWithRoles = entityOf('members', {
  id: GENERATED_ID,
  email: UNIQUE_TEXT,
  password: TEXT,
  roles: { type: 'simple-array', nullable: true },
});
export const MEMBERS_WITH_ROLES = {
  entity: MemberWithRoles,
  username: 'email',
  passwordHash: 'password',
  roles: 'roles',
};

/** Returns the options of an application whose users are the rows of an entity. */
export function mappedUsers(
  users: UserEntityMapping,
  auth: AuthModuleOptions = {},
  names: readonly string[] = [],
): Omit<TestApplicationOptions, 'database'> {
  return { auth: { users, ...auth }, entities: [users.entity, ...AUTH_ENTITIES_WITHOUT_USERS], users: names };
}

/** Returns the options of an application whose users are in a store. */
export function storedUsers(users: NonNullable<AuthModuleOptions['users']>): Omit<TestApplicationOptions, 'database'> {
  return { auth: { users }, entities: [...AUTH_ENTITIES_WITHOUT_USERS], users: [] };
}
