import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSourceOptions } from 'typeorm';

/** The database that the applications use. */
export const DATABASE = 'nsa';

/** The user that the applications connect as. */
export const APPLICATION = 'application';

/** A database cluster that applications are connected to. */
export interface Cluster {
  /** What the library must know of it. */
  readonly auth: AuthModuleOptions;
  /** How the instance with this index connects. */
  options(instance: number): DataSourceOptions;
}
