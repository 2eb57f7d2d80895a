import { counted, type Figure } from './measure/part';
import type { DatabaseName } from './settings';

/** The least or the largest wanted value of a figure. */
export interface Aim {
  readonly name: string;
  readonly database: DatabaseName;
  readonly atLeast?: number;
  readonly atMost?: number;
}

function refreshAims(database: DatabaseName, atLeast: (clients: number) => number): Aim[] {
  return [1, 8, 32, 128].map((clients) => ({
    name: `refresh / UPDATE, ${counted(clients, 'client')}`,
    database,
    atLeast: atLeast(clients),
  }));
}

/** The aims of the project for its speed. */
export const AIMS: readonly Aim[] = [
  { name: 'guard / batching, 32 connections', database: 'postgres', atLeast: 0.97 },
  { name: 'guard / batching, 8 connections', database: 'postgres', atLeast: 0.95 },
  { name: 'guard / batching, 1 connection', database: 'postgres', atLeast: 0.97 },
  { name: 'guard / prepared, 1 connection', database: 'postgres', atLeast: 0.95 },
  { name: 'guard / better-auth, 32 connections', database: 'postgres', atLeast: 7 },
  { name: 'guard / jwt, 32 connections', database: 'postgres', atLeast: 3.5 },
  { name: 'processor time of the database, guard / batching, 32 connections', database: 'postgres', atMost: 1.1 },
  { name: 'p99, exhausted / guard, 32 connections', database: 'postgres', atMost: 1.2 },
  ...refreshAims('postgres', (clients) => (clients === 1 ? 0.75 : 0.55)),
  ...refreshAims('mariadb', () => 0.33),
  ...refreshAims('mysql9', () => 0.33),
  ...refreshAims('sqlite', () => 0.35),
  { name: 'time of login / hash', database: 'postgres', atMost: 1.03 },
  { name: 'time of failed login / hash', database: 'postgres', atMost: 1.03 },
  { name: 'start with the module minus start without it', database: 'postgres', atMost: 50 },
  { name: 'import of the package', database: 'postgres', atMost: 50 },
  { name: 'heap at the end / heap at the beginning', database: 'postgres', atMost: 1.05 },
];

/** Returns whether the figure's interval reaches the aim. */
export function isMet({ atLeast, atMost }: Aim, { low, high }: Figure): boolean {
  return atLeast === undefined ? low <= atMost! : high >= atLeast;
}
