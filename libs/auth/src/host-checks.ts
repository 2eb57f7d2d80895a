import { Logger } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type { DataSource } from 'typeorm';
import { AUTH_ENTITIES_WITHOUT_USERS, AuthSession, AuthUser } from './store/entities';
import { dialectOf, type Dialect } from './store/sql/dialect';

/** A piece of the host is missing. The message ends in the line to add. */
export class AuthSetupError extends Error {
  override readonly name = 'AuthSetupError';
}

/** The DataSource, of a supported kind, with the library's entities registered. */
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
      `The DataSource '${name}' does not know the entities ${missing.join(', ')}. Add to its options: ` +
        `entities: [...${list}] (or, with autoLoadEntities, import TypeOrmModule.forFeature([...${list}]))`,
    );
  }
  refuseQueryTimeout(found, name);
  return { dataSource: found, dialect };
}

/** By `pg`'s own timeout a statement is given up that PostgreSQL carries out later: a refresh that failed would be a reuse then. */
function refuseQueryTimeout({ options }: DataSource, name: string): void {
  const { query_timeout: milliseconds } = (options.extra ?? {}) as { query_timeout?: number };
  if (options.type !== 'postgres' || !milliseconds) return;
  throw new AuthSetupError(
    `The DataSource '${name}' has \`extra.query_timeout\`, by which statements are given up and carried out all the same. ` +
      `Let PostgreSQL end them: extra: { statement_timeout: ${milliseconds} }`,
  );
}

export function requireEmitter(found: EventEmitter2 | undefined): EventEmitter2 {
  if (found) return found;
  throw new AuthSetupError(
    'AuthModule found no EventEmitter2. Add to the imports of your root module: EventEmitterModule.forRoot()',
  );
}

/** Warns where the library's tables are not there yet; a host may make them after its start. */
export async function warnOfMissingTables(dataSource: DataSource): Promise<void> {
  try {
    await dataSource.getRepository(AuthSession).exists({ where: { id: '' } });
  } catch {
    new Logger('AuthModule').warn(
      "The library's tables cannot be read. Add to the options of the DataSource: migrations: [...AUTH_MIGRATIONS], migrationsRun: true",
    );
  }
}

/** Warns of settings of the platform that a host should know of. */
export function warnOfPlatform(host: HttpAdapterHost): void {
  const logger = new Logger('AuthModule');
  const adapter = host.httpAdapter as { getType?(): string; getInstance?(): unknown } | undefined;
  const instance = adapter?.getInstance?.() as PlatformInstance | undefined;
  const isFastify = adapter?.getType?.() === 'fastify';
  const setting = isFastify ? 'trustProxy' : 'trust proxy';
  if ((isFastify ? fastifyOptions(instance)?.trustProxy : instance?.get?.(setting)) === true) {
    logger.warn(
      `'${setting}' is true: any client can claim any address. Set it to the addresses of the proxies in front.`,
    );
  }
  const fastify = instance?.initialConfig;
  if (isFastify && !(fastify?.ignoreTrailingSlash || fastify?.routerOptions?.ignoreTrailingSlash)) {
    logger.warn(
      'Routes with a trailing slash are not served. Make the adapter with: new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })',
    );
  }
}

/** The options that Fastify was made with; it does not show all of them. Where they are not found nothing is known. */
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
