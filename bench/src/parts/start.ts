import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase } from '../../../test/support/databases';
import { figure, log, type Part } from '../measure/part';
import { shuffled } from '../measure/statistics';

/** In milliseconds. */
interface StartTimes {
  readonly importMs: number;
  readonly startMs: number;
}

const SCRIPT = join(__dirname, '../application/start.mjs');
const BUILT = join(__dirname, '../../../libs/auth/dist');

/** Compares the start of an application with the module and without it, each in a new process, from the built package. */
export const measureStart: Part = async ({ databases, rounds }, teardown) => {
  if (!existsSync(BUILT)) throw new Error('The package is not built. Run npm run build first.');
  const database = databases[0]!;
  const testDatabase = await createDatabase(database);
  teardown.add(() => testDatabase.drop());
  const start = (hasModule: boolean): StartTimes => {
    const spec = JSON.stringify({ database: testDatabase.options, hasModule });
    const env = { ...process.env, NODE_ENV: 'production', NODE_NO_WARNINGS: '1' };
    return JSON.parse(execFileSync(process.execPath, [SCRIPT, spec], { encoding: 'utf8', env })) as StartTimes;
  };
  // The first start creates the tables.
  for (const hasModule of [true, false]) start(hasModule);
  const difference: number[] = [];
  const imports: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    log(`start: ${database}, round ${round} of ${rounds}`);
    const times = new Map(shuffled([true, false]).map((hasModule) => [hasModule, start(hasModule)]));
    difference.push(times.get(true)!.startMs - times.get(false)!.startMs);
    imports.push(times.get(true)!.importMs);
  }
  await teardown.run();
  return [
    figure('start with the module minus start without it', database, 'milliseconds', difference),
    figure('import of the package', database, 'milliseconds', imports),
  ];
};
