import { createDatabase, type DatabaseName, DATABASES, DIALECTS } from '../../support/databases';
import type { CompiledApplication } from '../compile';
import { withApplication } from '../application-process';
import { accountAttacks, sessionFlood } from './accounts';
import { Environment, type At, type UsersVariant } from './environment';
import { historyAttacks } from './history';
import { lockoutAttacks } from './lockout';
import { routeAttacks } from './routes';
import { guessesWithinSession, theftAttacks } from './theft';

const VARIANTS: { users: UsersVariant; words: string }[] = [
  { users: 'entity', words: 'a mapped entity' },
  { users: 'store', words: 'a UserStore' },
];

/** Tests the application with its own users on each database, in one process for all attacks. */
export function describeAttacks(compiledApplication: () => CompiledApplication): void {
  const settings = DATABASES.flatMap((database) =>
    // A store writes its own statements, for which two databases are enough.
    VARIANTS.filter(({ users }) => users === 'entity' || DIALECTS[database] !== 'mysql').map((variant) => ({
      database,
      ...variant,
    })),
  );
  describe.each(settings)('an application with $words on $database', ({ database, users }) => {
    let environment: Environment;
    let stop: () => Promise<void>;
    const at: At = () => environment;

    beforeAll(async () => {
      const application = await start(compiledApplication(), database, users);
      environment = new Environment(application.url, users);
      stop = application.stop;
    }, 300_000);
    afterAll(() => stop?.());

    lockoutAttacks(at);
    theftAttacks(at);
    accountAttacks(at);
    historyAttacks(at);
    routeAttacks(at);
    if (users === 'store') return;
    guessesWithinSession(at);
    sessionFlood(at);
  });
}

/** Starts the application. It runs until `stop` is called. */
async function start(
  application: CompiledApplication,
  name: DatabaseName,
  users: UsersVariant,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const database = await createDatabase(name);
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  let running!: Promise<void>;
  const url = await new Promise<string>((resolve, reject) => {
    const use = (address: string): Promise<void> => {
      resolve(address);
      return finished;
    };
    running = withApplication(application, process.execPath, database.options, use, { APPLICATION_USERS: users });
    running.catch(reject);
  });
  const stop = async (): Promise<void> => {
    finish();
    await running;
    await database.drop();
  };
  return { url, stop };
}
