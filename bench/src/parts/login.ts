import { compare, hash } from 'bcrypt';
import { AuthService } from 'nestjs-session-auth';
import { availableParallelism } from 'node:os';
import { openLibrary } from '../application/in-process';
import { times } from '../contenders/contender';
import { measureMixed } from '../measure/drive';
import { figure, log, ratio, type Figure, type Part } from '../measure/part';

const PASSWORD = 'correct horse battery staple';

/** The default of `bcryptCost`. */
const COST = 12;

/** Failed logins are counted and never refused: `throttleFrom: false` would skip a part of the work. */
const OPTIONS = { bcryptCost: COST, failedLogins: { throttleFrom: 1_000_000, accountBlock: false } };

/**
 * Compares `AuthService.login` with the bare verification of a password hash, both without HTTP. One client per core, so
 * that no login waits for a core.
 */
export const measureLogin: Part = async (settings, teardown) => {
  const clients = availableParallelism();
  const stored = await hash(PASSWORD, COST);
  const figures: Figure[] = [];
  for (const database of settings.databases) {
    log(`login: ${database}`);
    const auth = (await openLibrary(database, OPTIONS, teardown)).get(AuthService);
    const [names, failing] = ['user', 'failing user'].map((name) => times(clients, (index) => `${name} ${index}`));
    for (const username of [...names!, ...failing!]) await auth.createUser({ username, password: PASSWORD });
    const operations = {
      hash: () => compare(PASSWORD, stored),
      login: (worker: number) => auth.login({ username: names![worker]!, password: PASSWORD }),
      'failed login': (worker: number) => failedLogin(auth, failing![worker]!),
    };
    const rates = await measureMixed(operations, clients, settings);
    const all = Object.entries(rates);
    figures.push(
      ...all.map(([name, rounds]) => figure(name, database, 'requests per second', rounds)),
      // The time of an operation is the reciprocal of its rate.
      ...all.slice(1).map(([name, rounds]) => ratio(`time of ${name} / hash`, database, rates.hash, rounds)),
    );
    await teardown.run();
  }
  return figures;
};

async function failedLogin(auth: AuthService, username: string): Promise<void> {
  const isRefused = await auth.login({ username, password: `not ${PASSWORD}` }).then(
    () => false,
    (error: { code?: string }) => error.code === 'invalid_credentials',
  );
  if (!isRefused) throw new Error('A wrong password was not refused.');
}
