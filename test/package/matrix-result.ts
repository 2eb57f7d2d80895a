import type { Layout, Versions } from './settings';

/** The result of an application on one Node and one database. */
export interface Run {
  readonly node: string;
  readonly database: 'PostgreSQL' | 'SQLite';
  /** Undefined if the run succeeded. */
  readonly failure: string | undefined;
}

/** The results of one way to compile an application. */
export interface Row {
  readonly versions: Versions;
  readonly layout: Layout;
  /** The versions of TypeScript that accept the types. */
  readonly compilers: readonly string[];
  /** Other packages whose declarations contain errors. */
  readonly faulty: readonly string[];
  /** The error of the compiler. If it is set, the application was not run. */
  readonly failure: string | undefined;
  readonly runs: readonly Run[];
}

export interface MatrixResult {
  readonly rows: readonly Row[];
  readonly installed: readonly { readonly versions: Versions; readonly resolved: Record<string, string> }[];
}

export function failuresOf({ rows }: MatrixResult): string[] {
  return rows.flatMap(({ versions, layout, failure, runs }) => {
    const name = nameOf(versions, layout);
    const all = [failure, ...runs.map((run) => run.failure && `Node ${run.node}, ${run.database}: ${run.failure}`)];
    return all.filter(Boolean).map((one) => `${name}: ${one}`);
  });
}

export function nameOf({ nest, typeorm }: Versions, { modules, resolution }: Layout): string {
  return `Nest ${nest}, TypeORM ${typeorm}, ${modules}, ${resolution}`;
}
