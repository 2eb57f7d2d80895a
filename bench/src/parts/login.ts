import { compare, hash } from 'bcrypt';
import { AuthService } from 'nestjs-session-auth';
import { availableParallelism } from 'node:os';
import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import { times } from '../contenders/contender';
import { openLibrary } from '../application/in-process';
import { compareAlternating, type Comparison } from '../measure/compare';
import type { Teardown } from '../measure/teardown';
import type { Operation } from '../measure/drive';
import type { Settings } from '../settings';
import { log, type Part } from './part';

const PASSWORD = 'correct horse battery staple';

/** The default of `bcryptCost`. */
const COST = 12;

export interface LoginCell {
  readonly database: DatabaseName;
  readonly hash: Comparison;
  /** Logins with `sessionPolicy: 'multi'`. */
  readonly multi: Comparison;
  /** Logins with `sessionPolicy: 'max_count'` at the limit, where each login ends another session. */
  readonly limited: Comparison;
}

export interface LoginResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly bcryptCost: number;
  /** One client per core, so that no login waits for a core. */
  readonly clients: number;
  readonly cells: readonly LoginCell[];
}

/** Compares `AuthService.login` with the bare verification of a password hash, both without HTTP. */
export const measureLogin: Part<LoginResult> = async (settings, teardown) => {
  const { rounds, seconds } = settings;
  const clients = availableParallelism();
  const stored = await hash(PASSWORD, COST);
  const cells: LoginCell[] = [];
  for (const database of settings.databases) {
    log(`login: ${database}`);
    const operations = {
      hash: () => compare(PASSWORD, stored),
      multi: await prepareLogin(database, clients, {}, settings, teardown),
      limited: await prepareLogin(database, clients, { sessionPolicy: 'max_count' }, settings, teardown),
    };
    const compared = await compareAlternating(operations, { rounds, seconds, workers: clients });
    cells.push({ database, ...compared });
    await teardown.run();
  }
  return { rounds, seconds, bcryptCost: COST, clients, cells };
};

async function prepareLogin(
  database: DatabaseName,
  clients: number,
  policy: object,
  { options }: Settings,
  teardown: Teardown,
): Promise<Operation> {
  const testDatabase = await createDatabase(database, { isDurable: true });
  teardown.add(() => testDatabase.drop());
  const app = await openLibrary(testDatabase.options, { ...options, bcryptCost: COST, ...policy });
  teardown.add(() => app.close());
  const auth = app.get(AuthService);
  const names = times(clients, (index) => `user ${index}`);
  for (const username of names) {
    const user = await auth.createUser({ username, password: PASSWORD });
    for (let session = 0; session < 5; session++) await auth.openSession(user);
  }
  return (worker) => auth.login({ username: names[worker]!, password: PASSWORD });
}
