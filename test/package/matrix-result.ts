import type { Layout, Versions } from './settings';

/** What was seen of a host on one Node and one database. */
export interface Run {
  readonly node: string;
  readonly database: 'PostgreSQL' | 'SQLite';
  /** Undefined where all went well. */
  readonly failure: string | undefined;
}

/** What was seen of one way to compile a host. */
export interface Row {
  readonly versions: Versions;
  readonly layout: Layout;
  /** The versions of TypeScript that found the types sound. */
  readonly compilers: readonly string[];
  /** The packages of others whose declarations have errors. */
  readonly faulty: readonly string[];
  /** Why it does not compile, if it does not; then it was not run. */
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
