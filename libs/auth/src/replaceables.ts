import type { ModuleRef } from '@nestjs/core';
import type { DataSource } from 'typeorm';
import { ApplicationSecondFactor } from './adapters/application-second-factor';
import { ApplicationUserStore } from './adapters/application-user-store';
import type { Clock, CryptoSource } from './domain/ports/platform';
import { NoSecondFactor, type SecondFactor } from './domain/ports/login-tickets';
import type { NewUser, UserEntityMapping } from './domain/ports/accounts';
import type { NameMatching } from './domain/username';
import type { Replaceable, ResolvedAuthOptions } from './options/auth-options';
import { AuthOptionsError } from './options/problems';
import { ExternalAccounts, JoinedAccounts, type AccountSource } from './store/accounts/account-source';
import { EntityUserStore } from './store/accounts/entity-user-store';
import { mappingProblems } from './store/accounts/mapping-problems';
import { UserTable } from './store/accounts/user-table';
import type { Database } from './store/database/database';
import { AuthUser } from './store/entities';

const OWN_USERS: UserEntityMapping = {
  entity: AuthUser,
  username: 'username',
  passwordHash: 'passwordHash',
  active: 'active',
};

/** Describes the content of `AuthUser.usernameKey`, for log messages. */
const OWN_NAME_KEY: Readonly<Record<NameMatching, string>> = {
  exact: 'the SHA-256 digest of the name in hexadecimal',
  insensitive: 'the SHA-256 digest of foldName(name) in hexadecimal',
};

/**
 * Returns the source of the accounts that the option `users` selects: the library's own entity, a mapped entity, or
 * the application's `UserStore`.
 * @throws AuthOptionsError if the mapping does not fit the entity
 */
export async function createAccountSource(
  moduleRef: ModuleRef,
  { users, nameMatching }: ResolvedAuthOptions,
  dataSource: DataSource,
  database: Database,
  clock: Clock,
  crypto: CryptoSource,
): Promise<AccountSource> {
  if (users === undefined) {
    const table = new UserTable(dataSource, OWN_USERS, clock);
    const own = new EntityUserStore(table, database, nameMatching, {
      nameKey: { property: 'usernameKey', of: (name) => crypto.sha256(name), written: OWN_NAME_KEY[nameMatching] },
      newRow: ({ username, passwordHash, properties = {} }: NewUser, usernameKey: string) => {
        refuseProperties(Object.keys(properties));
        return { id: crypto.uuid(), username, passwordHash, usernameKey, active: true, createdAt: clock.now() };
      },
    });
    return new JoinedAccounts(own, database);
  }
  if ('entity' in users) {
    const problems = mappingProblems(dataSource, users);
    if (problems.length > 0) throw new AuthOptionsError(problems);
    const table = new UserTable(dataSource, users, clock);
    return new JoinedAccounts(new EntityUserStore(table, database, nameMatching), database);
  }
  const store = new ApplicationUserStore(await createReplaceable(moduleRef, users), nameMatching);
  return new ExternalAccounts(store, database);
}

function refuseProperties([first]: readonly string[]): void {
  if (first === undefined) return;
  throw new Error(
    `createUser() received the property '${first}', but AuthUser accepts no properties. Map your own entity: ` +
      "users: { entity: User, username: 'email', passwordHash: 'password' }",
  );
}

/** Returns the second factor that the options contain, or a second factor that is never required. */
export async function createSecondFactor(
  moduleRef: ModuleRef,
  { secondFactor }: ResolvedAuthOptions,
): Promise<SecondFactor> {
  if (!secondFactor) return new NoSecondFactor();
  return new ApplicationSecondFactor(await createReplaceable(moduleRef, secondFactor));
}

/** Creates an instance of a class with its dependencies injected. Returns an instance unchanged. */
export function createReplaceable<T>(moduleRef: ModuleRef, given: Replaceable<T>): Promise<T> | T {
  return typeof given === 'function' ? moduleRef.create(given as new () => T) : given;
}
