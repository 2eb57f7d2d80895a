import { Logger, type Type } from '@nestjs/common';
import type { HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import type { ResolvedAuthOptions } from './options/auth-options';
import { graceSecondsFor } from './options/grace-period';
import { contradictoryRoutes } from './http/guards/contradictory-routes';
import { httpServerOf } from './http/platform/peer-addresses';
import { AUTH_ENTITIES_WITHOUT_USERS, AuthSession, AuthUser } from './store/entities';
import type { Database } from './store/database/database';
import { dialectOf, type Dialect } from './store/database/dialect';

/** What the application must provide is missing or unsuitable. The message gives the line to add. */
export class AuthSetupError extends Error {
  override readonly name = 'AuthSetupError';
}

/**
 * Returns the DataSource with its dialect.
 * @throws AuthSetupError where it is missing, unsupported, or lacks the library's entities
 */
export function requireDataSource(
  found: DataSource | undefined,
  name: string,
  ownUsers: boolean,
): { dataSource: DataSource; dialect: Dialect } {
  if (!found) {
    const named = name === 'default' ? '' : `, name: '${name}'`;
    throw new AuthSetupError(
      `AuthModule found no TypeORM DataSource named '${name}'. Add to the imports of your root module, before ` +
        `AuthModule: TypeOrmModule.forRoot({ type: 'postgres', ...${named}, entities: [...AUTH_ENTITIES] })`,
    );
  }
  const dialect = dialectOf(found);
  if (!dialect) {
    throw new AuthSetupError(
      `AuthModule does not support the database type '${found.options.type}'. ` +
        `Use one of: type: 'better-sqlite3', 'postgres', 'mysql', 'mariadb'`,
    );
  }
  const needed = [...AUTH_ENTITIES_WITHOUT_USERS, ...(ownUsers ? [AuthUser] : [])];
  const missing = needed.filter((entity) => !found.hasMetadata(entity)).map((entity) => entity.name);
  if (missing.length > 0) {
    const list = ownUsers ? 'AUTH_ENTITIES' : 'AUTH_ENTITIES_WITHOUT_USERS';
    throw new AuthSetupError(
      `The DataSource '${name}' lacks the entities ${missing.join(', ')}. Add to its options: ` +
        `entities: [...${list}] (or, with autoLoadEntities, import TypeOrmModule.forFeature([...${list}]))`,
    );
  }
  refuseQueryTimeout(found, name);
  return { dataSource: found, dialect };
}

// After `pg`'s own timeout PostgreSQL goes on with the statement. A refresh that failed would then
// have taken place, and its retry would be reuse.
function refuseQueryTimeout({ options }: DataSource, name: string): void {
  const { query_timeout: milliseconds } = (options.extra ?? {}) as { query_timeout?: number };
  if (options.type !== 'postgres' || !milliseconds) return;
  throw new AuthSetupError(
    `The DataSource '${name}' has \`extra.query_timeout\`, which abandons a statement while PostgreSQL goes on ` +
      `with it. Let PostgreSQL cancel it: extra: { statement_timeout: ${milliseconds} }`,
  );
}

/** @throws AuthSetupError where `EventEmitterModule` is not imported */
export function requireEmitter(found: EventEmitter2 | undefined): EventEmitter2 {
  if (found) return found;
  throw new AuthSetupError(
    'AuthModule found no EventEmitter2. Add to the imports of your root module: EventEmitterModule.forRoot()',
  );
}

/** @throws AuthSetupError where the module is in the application more than once */
export function refuseSecondModule(modules: ModulesContainer, type: Type): void {
  const { length } = [...modules.values()].filter(({ metatype }) => metatype === type);
  if (length <= 1) return;
  throw new AuthSetupError(
    `${type.name} is imported ${length} times, each with options of its own. Call ${type.name}.forRoot() or ` +
      'forRootAsync() once, in your root module: its exports can be injected everywhere.',
  );
}

/** @throws AuthSetupError where the declarations of a handler or class exclude each other */
export function refuseContradictoryRoutes(modules: ModulesContainer): void {
  const names = contradictoryRoutes(modules);
  if (names.length === 0) return;
  throw new AuthSetupError(
    `${names.join(', ')}: two of \`@Public()\`, \`@OptionalAuth()\` and a guard (\`BearerAuthGuard\`, or ` +
      '`@RequireRecentLogin()`, which brings it) are written side by side. Remove one of them, or move it: a declaration on a handler overrides the one on its class.',
  );
}

/** Warns about missing tables. No error: the application may create them after its start. */
export async function warnAboutMissingTables(
  dataSource: DataSource,
  { users }: Pick<ResolvedAuthOptions, 'users'>,
): Promise<void> {
  const logger = new Logger('AuthModule');
  const entity = entityOfUsers(users);
  const areReadable = await isReadable(dataSource, AuthSession);
  const areUsersReadable = entity === null || (await isReadable(dataSource, entity));
  if (!areReadable || (users === undefined && !areUsersReadable)) {
    logger.warn(
      "The library's tables cannot be read. Add to the options of the DataSource: " +
        `migrations: [...${users === undefined ? 'AUTH_MIGRATIONS' : 'AUTH_MIGRATIONS_WITHOUT_USERS'}], migrationsRun: true`,
    );
  }
  if (users !== undefined && entity !== null && !areUsersReadable) {
    logger.warn(
      `The table of users.entity, ${entity.name}, cannot be read, so that logins are answered with 503. ` +
        'Create it by a migration of your own.',
    );
  }
}

/** Warns where the table `auth_users` is created beside users of the application, and stays empty. */
export function warnAboutUnusedUsers(dataSource: DataSource, { users }: Pick<ResolvedAuthOptions, 'users'>): void {
  const entity = entityOfUsers(users);
  if (entity === AuthUser || !dataSource.hasMetadata(AuthUser)) return;
  new Logger('AuthModule').warn(
    `AuthUser is among the entities of the DataSource, but the option users names ${entity?.name ?? 'a UserStore'}. ` +
      'Write entities: [...AUTH_ENTITIES_WITHOUT_USERS] and migrations: [...AUTH_MIGRATIONS_WITHOUT_USERS] instead of ' +
      'AUTH_ENTITIES and AUTH_MIGRATIONS.',
  );
}

/** The entity of the users, or null where they are in a `UserStore`. */
function entityOfUsers(users: ResolvedAuthOptions['users']): (new () => object) | null {
  if (users === undefined) return AuthUser;
  return 'entity' in users ? users.entity : null;
}

async function isReadable(dataSource: DataSource, entity: new () => object): Promise<boolean> {
  try {
    await dataSource.getRepository(entity).exists({ withDeleted: true });
    return true;
  } catch {
    return false;
  }
}

/** Warns about a server, or a proxy before it, that breaks what the library promises. */
export async function warnAboutServer(database: Database): Promise<void> {
  try {
    for (const warning of await database.serverWarnings()) new Logger('AuthModule').warn(warning);
  } catch {
    // A server that is away, or does not know the questions, says nothing. The start does not depend on it.
  }
}

/**
 * Warns once, at the first request with `X-Forwarded-For`, if no proxy is trusted: all clients then have the address of the
 * proxy, and share the delays after failed logins.
 */
export function warnAboutForwardedAddresses(adapterHost: HttpAdapterHost): void {
  const server = httpServerOf(adapterHost);
  if (!server) return;
  const check = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): void => {
    if (headers['x-forwarded-for'] === undefined) return;
    server.off('request', check);
    const { setting, value } = trustedProxies(platformOf(adapterHost.httpAdapter));
    if (value) return;
    new Logger('AuthModule').warn(
      `A request has the header X-Forwarded-For, but '${setting}' is off. If the application is behind a proxy, ` +
        'every client has the address of the proxy. Set it to the addresses of your proxies.',
    );
  };
  server.on('request', check);
}

/** The deadline of a refresh and its `Retry-After`, in seconds: no client comes back to another instance sooner. */
const COMES_BACK_AFTER_SECONDS = 6;

/** Warns about a grace period that is over before a client can come back after a refresh of unknown outcome. */
export function warnAboutShortGracePeriod(options: ResolvedAuthOptions): void {
  // A written value applies to both transports, and the default for cookies is long enough.
  const seconds = graceSecondsFor(options, 'bearer');
  if (seconds === 0 || seconds > COMES_BACK_AFTER_SECONDS) return;
  new Logger('AuthModule').warn(
    `refreshReuseGraceSeconds is ${seconds}: a client whose refresh was answered with 503 comes back after up to ` +
      `${COMES_BACK_AFTER_SECONDS} seconds, which is reuse if another instance serves it. Write at least 10, or 30 ` +
      'where the database fails over to a standby.',
  );
}

/** Warns about settings of the HTTP platform that are insecure, or that break the library's routes. */
export function warnAboutPlatform({ httpAdapter }: HttpAdapterHost): void {
  const logger = new Logger('AuthModule');
  const platform = platformOf(httpAdapter);
  const { instance, isFastify } = platform;
  const { setting, value } = trustedProxies(platform);
  if (value === true) {
    logger.warn(`'${setting}' is true: any client can forge its IP address. Set it to the addresses of your proxies.`);
  }
  const fastify = instance?.initialConfig;
  if (isFastify && !(fastify?.ignoreTrailingSlash || fastify?.routerOptions?.ignoreTrailingSlash)) {
    logger.warn(
      'Routes with a trailing slash are not served. Create the adapter with: ' +
        'new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })',
    );
  }
}

interface Platform {
  readonly instance: PlatformInstance | undefined;
  readonly isFastify: boolean;
}

function platformOf(httpAdapter: unknown): Platform {
  const adapter = httpAdapter as { getType?(): string; getInstance?(): unknown } | undefined;
  const instance = adapter?.getInstance?.() as PlatformInstance | undefined;
  return { instance, isFastify: adapter?.getType?.() === 'fastify' };
}

/** Which proxies the platform trusts, and the name of the setting. */
function trustedProxies({ instance, isFastify }: Platform): { readonly setting: string; readonly value: unknown } {
  if (isFastify) return { setting: 'trustProxy', value: fastifyOptions(instance)?.trustProxy };
  return { setting: 'trust proxy', value: instance?.get?.('trust proxy') };
}

/** The options that Fastify was created with. `initialConfig` omits `trustProxy`. */
function fastifyOptions(instance: object | undefined): { readonly trustProxy?: unknown } | undefined {
  const key = Object.getOwnPropertySymbols(instance ?? {}).find(({ description }) => description === 'fastify.options');
  return key && (instance as Record<symbol, { readonly trustProxy?: unknown }>)[key];
}

interface PlatformInstance {
  get?(setting: string): unknown;
  readonly initialConfig?: {
    readonly ignoreTrailingSlash?: boolean;
    readonly routerOptions?: { readonly ignoreTrailingSlash?: boolean };
  };
}
