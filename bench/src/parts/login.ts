import { compare, hash } from 'bcrypt';
import { AuthService } from 'nestjs-session-auth';
import { availableParallelism } from 'node:os';
import { createDatabase, type DatabaseName } from '../../../test/support/databases';
import { times } from '../contenders/contender';
import { openLibrary } from '../host/in-process';
import { besideInTurn, type Compared } from '../measure/beside';
import type { CleanUp } from '../measure/clean-up';
import type { Deed } from '../measure/drive';
import type { Settings } from '../settings';
import { tell, type Part } from './part';

const PASSWORD = 'correct horse battery staple';

/** The default of `bcryptCost`. */
const COST = 12;

export interface LoginCell {
  readonly database: DatabaseName;
  readonly hash: Compared;
  /** Under `sessionPolicy: 'multi'`. */
  readonly multi: Compared;
  /** Under `'max_count'`, at the limit: each login ends another session. */
  readonly limited: Compared;
}

export interface LoginResult {
  readonly rounds: number;
  readonly seconds: number;
  readonly bcryptCost: number;
  /** As many as there are cores: what is measured is work, not waiting. */
  readonly clients: number;
  readonly cells: readonly LoginCell[];
}

/** `AuthService.login` beside the bare comparison of a password with its hash, both without HTTP. */
export const measureLogin: Part<LoginResult> = async (settings, cleanUp) => {
  const { rounds, seconds } = settings;
  const clients = availableParallelism();
  const stored = await hash(PASSWORD, COST);
  const cells: LoginCell[] = [];
  for (const database of settings.databases) {
    tell(`login: ${database}`);
    const deeds = {
      hash: () => compare(PASSWORD, stored),
      multi: await prepareLogin(database, clients, {}, settings, cleanUp),
      limited: await prepareLogin(database, clients, { sessionPolicy: 'max_count' }, settings, cleanUp),
    };
    const found = await besideInTurn(deeds, { rounds, seconds, workers: clients });
    cells.push({ database, ...found });
    await cleanUp.run();
  }
  return { rounds, seconds, bcryptCost: COST, clients, cells };
};

async function prepareLogin(
  database: DatabaseName,
  clients: number,
  policy: object,
  { options }: Settings,
  cleanUp: CleanUp,
): Promise<Deed> {
  const own = await createDatabase(database);
  cleanUp.add(() => own.drop());
  const app = await openLibrary(own.options, { ...options, bcryptCost: COST, ...policy });
  cleanUp.add(() => app.close());
  const auth = app.get(AuthService);
  const names = times(clients, (index) => `user ${index}`);
  for (const username of names) {
    const user = await auth.createUser({ username, password: PASSWORD });
    for (let session = 0; session < 5; session++) await auth.openSession(user);
  }
  return (worker) => auth.login({ username: names[worker]!, password: PASSWORD });
}
