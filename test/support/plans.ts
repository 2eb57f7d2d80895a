import type { DataSource } from 'typeorm';
import { bind } from '../../libs/auth/src/database/transaction';
import type { Dialect } from './databases';
import type { Call } from './tap';

type Explain = (dataSource: DataSource, call: Call) => Promise<{ table: string; usesIndex: boolean }[]>;

/** Returns each table, or its alias, that the plan of a statement reads completely, without or through an index. */
export const scansOf: Record<Dialect, Explain> = {
  async postgres(dataSource, call) {
    const plan: Record<string, string>[] = await dataSource.query(`EXPLAIN ${call.sql}`, bind(call));
    const lines = plan.map((row) => Object.values(row)[0]!).join('\n');
    return [...lines.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => ({ table: table!, usesIndex: false }));
  },
  async mysql(dataSource, { sql, params }) {
    const plan: { table: string | null; type: string | null }[] = await dataSource.query(`EXPLAIN ${sql}`, params);
    const scans = plan.filter(({ table, type }) => table !== null && (type === 'ALL' || type === 'index'));
    return scans.map(({ table, type }) => ({ table: table!, usesIndex: type === 'index' }));
  },
  async sqlite(dataSource, { sql, params }) {
    const values = params.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    const plan: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, values);
    const lines = plan.map(({ detail }) => detail).join('\n');
    const scans = [...lines.matchAll(/^SCAN (?!CONSTANT)(\S+)(.*USING)?/gm)];
    return scans.map(([, table, using]) => ({ table: table!, usesIndex: using !== undefined }));
  },
};
