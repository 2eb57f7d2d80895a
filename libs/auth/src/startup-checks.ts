import { Logger, type Type } from '@nestjs/common';
import type { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type { EventEmitter } from 'node:events';
import type { DataSource } from 'typeorm';
import { unsupportedVersions } from './base/versions';
import type { Database } from './database/database';
import { dialectOf } from './database/dialect';
import { AUTH_ENTITIES, AUTH_ENTITIES_WITHOUT_USERS, AuthSession, AuthUser } from './database/entities';
import { conflictingRoutes } from './http/endpoints';
import { type MountedRoute, platformSettings } from './http/platform';
import { onFirstForwardedRequest } from './http/request';
import { contradictoryRoutes, unprotectedFields, unprotectedMessages } from './http/route-rules';
import type { ResolvedAuthOptions } from './options/auth-options';
import { OWN_USERS } from './users/entity-names';

const logger = new Logger('AuthModule');

/** Thrown if the setup of the application is incomplete or not supported. The message says what to change. */
export class AuthSetupError extends Error {
  override readonly name = 'AuthSetupError';
}

/** Returns the code that adds the library's tables to the options of a DataSource. */
const withTables = (ownUsers: boolean, options = '{ ... }'): string =>
  `withAuthTables(${options}${ownUsers ? '' : ', { usersTable: false }'})`;

/** @throws AuthSetupError if the DataSource is missing, lacks the library's entities, or has unsupported options */
export function requireDataSource(found: DataSource | undefined, name: string, ownUsers: boolean): DataSource {
  if (!found) {
    const named = name === 'default' ? '' : `, name: '${name}'`;
    throw new AuthSetupError(
      `AuthModule found no TypeORM DataSource named '${name}'. Add to the imports of your root module, before ` +
        `AuthModule: TypeOrmModule.forRoot(${withTables(ownUsers, `{ type: 'postgres', ...${named} }`)})`,
    );
  }
  if (!dialectOf(found)) {
    const supported = `'better-sqlite3', 'postgres', 'mysql', 'mariadb'`;
    throw new AuthSetupError(`AuthModule does not support the database type '${found.options.type}'; use ${supported}`);
  }
  const needed = ownUsers ? AUTH_ENTITIES : AUTH_ENTITIES_WITHOUT_USERS;
  const missing = needed.filter((entity) => !found.hasMetadata(entity)).map((entity) => entity.name);
  if (missing.length > 0) throw new AuthSetupError(describeMissing(found, name, ownUsers, missing));
  const { query_timeout: timeout } = (found.options.extra ?? {}) as { query_timeout?: number };
  if (found.options.type === 'postgres' && timeout) {
    // A refresh could fail for the client, but succeed in the database, and the retry could count as reuse.
    throw new AuthSetupError(
      `The DataSource '${name}' sets extra.query_timeout, after which PostgreSQL still completes the statement. ` +
        `Set a timeout that cancels it: extra: { statement_timeout: ${timeout} }`,
    );
  }
  return found;
}

function describeMissing(found: DataSource, name: string, ownUsers: boolean, missing: readonly string[]): string {
  if (!found.isInitialized) {
    return (
      `The DataSource '${name}' is not initialized when AuthModule starts. Remove manualInitialization: true, or ` +
      'initialize it in time: dataSourceFactory: (options) => new DataSource(options).initialize()'
    );
  }
  return (
    `The DataSource '${name}' lacks the entities ${missing.join(', ')}. Pass its options through ` +
    `withAuthTables: TypeOrmModule.forRoot(${withTables(ownUsers)})` +
    (missing.join() === AuthUser.name ? '. If your application has its own users, set the option users' : '')
  );
}

/** @param find throws if no module provides an emitter */
export function requireEmitter(find: () => EventEmitter2): () => EventEmitter2 {
  try {
    find();
  } catch {
    throw new AuthSetupError(
      'AuthModule found no EventEmitter2. Add to the imports of your root module: EventEmitterModule.forRoot()',
    );
  }
  return find;
}

/** @param injected undefined if a dependency of the module is request-scoped, because Nest then injects nothing */
export function refuseRequestScope(injected: unknown): void {
  if (injected) return;
  throw new AuthSetupError(
    'A dependency of AuthModule is request-scoped, for example one that forRootAsync() injects. ' +
      'Inject only providers with the default scope, because the options are read once, at startup.',
  );
}

export function refuseSecondModule(modules: ModulesContainer, type: Type): void {
  const { length } = [...modules.values()].filter(({ metatype }) => metatype === type);
  if (length <= 1) return;
  throw new AuthSetupError(
    `${type.name} is imported ${length} times. Call ${type.name}.forRoot() or ` +
      'forRootAsync() once, in your root module. Every module can inject its exports.',
  );
}

export function refuseContradictoryRoutes(modules: ModulesContainer): void {
  const names = contradictoryRoutes(modules);
  if (names.length === 0) return;
  throw new AuthSetupError(
    'These handlers or classes have more than one of `@Public()`, `@OptionalAuth()` and a guard (`BearerAuthGuard`, ' +
      '`@RequireRecentLogin()`, `@RequireRoles()` or `@AllowApiKey()`), or one of the first two beneath `@RequireRecentLogin()` or ' +
      '`@RequireRoles()` on the class: ' +
      `${names.join(', ')}. Keep one of the three on each handler and each class.`,
  );
}

/** @throws AuthSetupError if Nest would ignore `@RequireRoles()`, `@RequireRecentLogin()` or `@AllowApiKey()` of a GraphQL field */
export function refuseUnprotectedFields(modules: ModulesContainer): void {
  const names = unprotectedFields(modules);
  if (names.length === 0) return;
  throw new AuthSetupError(
    `Nest ignores the guards of these GraphQL fields, so anyone could read them: ${names.join(', ')}. ` +
      "Set fieldResolverEnhancers: ['guards'] in the options of GraphQLModule.",
  );
}

/** @throws AuthSetupError if Nest would ignore the global guard of a gateway's message */
export function refuseUnprotectedMessages(modules: ModulesContainer): void {
  const names = unprotectedMessages(modules);
  if (names.length === 0) return;
  throw new AuthSetupError(
    `Before version 12, Nest ignores global guards of gateways, so anyone could send: ${names.join(', ')}. ` +
      'Add @UseGuards(BearerAuthGuard) or @Public() to the gateway.',
  );
}

/** Otherwise, the module that is imported first would serve the route, and nobody would notice. */
export function refuseConflictingRoutes(mounted: readonly MountedRoute[], modules: ModulesContainer): void {
  const conflicts = conflictingRoutes(mounted, modules);
  if (conflicts.length === 0) return;
  throw new AuthSetupError(
    `The library and the application serve the same routes: ${conflicts.join('; ')}. Switch the library's route off, such ` +
      'as with AuthModule.forRoot({ endpoints: { login: false } }), or change the path of yours.',
  );
}

/** Warns about versions of Nest and TypeORM that a package manager installed in spite of the `peerDependencies`. */
export function warnAboutVersions(): void {
  for (const warning of unsupportedVersions()) logger.warn(warning);
}

/**
 * Warns about missing tables. This is not an error, because the application may create the tables after startup.
 * @param isClosing whether the application closes the DataSource, so that a failure says nothing about the tables
 */
export async function warnAboutMissingTables(
  dataSource: DataSource,
  { users = OWN_USERS }: Pick<ResolvedAuthOptions, 'users'>,
  isClosing: () => boolean,
): Promise<void> {
  const isOwn = users === OWN_USERS;
  if (!(await areReadable(dataSource, isOwn ? [AuthSession, AuthUser] : [AuthSession])) && !isClosing()) {
    logger.warn(
      "The library's tables cannot be read. If they do not exist, run the migrations. Pass the options of the " +
        `DataSource through ${withTables(isOwn)}, then run "typeorm migration:run", or add migrationsRun: true`,
    );
  }
  if (!isOwn && 'entity' in users && !(await areReadable(dataSource, [users.entity])) && !isClosing()) {
    logger.warn(
      `The table of users.entity, ${users.entity.name}, cannot be read. Logins fail with 503. ` +
        'If the table does not exist, create it with a migration of your application.',
    );
  }
}

async function areReadable(dataSource: DataSource, entities: readonly (new () => object)[]): Promise<boolean> {
  try {
    await Promise.all(entities.map((entity) => dataSource.getRepository(entity).exists({ withDeleted: true })));
    return true;
  } catch {
    return false;
  }
}

export async function warnAboutServer(database: Database): Promise<void> {
  try {
    for (const warning of await database.serverWarnings()) logger.warn(warning);
  } catch {
    // The application also starts if the server is unavailable or does not support the queries of this check.
  }
}

/**
 * Warns once, at the first request with `X-Forwarded-For`, if no proxy is trusted. Behind a proxy, all clients then
 * have the address of the proxy, and share the delays after failed logins.
 */
export function warnAboutForwardedAddresses(adapterHost: HttpAdapterHost, server: EventEmitter): void {
  onFirstForwardedRequest(server, () => {
    const { proxySetting: setting, trustedProxies } = platformSettings(adapterHost);
    if (trustedProxies) return;
    logger.warn(
      `A request has the header X-Forwarded-For, but '${setting}' is off. If the application is behind a proxy, ` +
        `every client has the address of the proxy. Set '${setting}' to the addresses of your proxies.`,
    );
  });
}

/** The deadline of a refresh (5 s) plus its `Retry-After` (1 s). */
const LATEST_RETRY_SECONDS = 6;

/** Warns about a grace period that can end before a client retries a refresh that failed with 503. */
export function warnAboutShortGracePeriod({ refreshReuseGraceSeconds = 0 }: ResolvedAuthOptions): void {
  if (refreshReuseGraceSeconds === 0 || refreshReuseGraceSeconds > LATEST_RETRY_SECONDS) return;
  logger.warn(
    `refreshReuseGraceSeconds is ${refreshReuseGraceSeconds}. A client whose refresh fails with 503 may retry it up to ` +
      `${LATEST_RETRY_SECONDS} seconds after sending it. On another instance, the retry can count as reuse. ` +
      'Set refreshReuseGraceSeconds to at least 10, or to at least 30 if the database fails over to a standby.',
  );
}

export function warnAboutPlatform(adapterHost: HttpAdapterHost): void {
  const { proxySetting: setting, trustedProxies, servesTrailingSlash } = platformSettings(adapterHost);
  if (trustedProxies === true) {
    logger.warn(
      `'${setting}' is true: any client can forge its IP address. Set '${setting}' to the addresses of your proxies.`,
    );
  }
  if (!servesTrailingSlash) {
    logger.warn(
      'Routes with a trailing slash are not served. Create the adapter with: ' +
        'new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })',
    );
  }
}
