import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';

/** The database that the applications use. */
export const DATABASE = 'nsa';

/** The user that the applications connect as. */
export const APPLICATION = 'application';

/** A database cluster under test. */
export interface Cluster {
  /** The options of the library that the cluster requires. */
  readonly auth: AuthModuleOptions;
  /** Returns the connection options of the instance with this index. */
  options(instance: number): DataSourceOptions;
}
