import {
  AuthSession,
  type AuthModuleOptions,
  type AuthPrincipal,
  type AuthSignalName,
  type AuthSignals,
  type ClientInfo,
  type OpenedSession,
} from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, type DatabaseName, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap, type Hook } from '../support/tap';
import { Interleaver, NoSuchCall, type Settled } from './interleaver';
import type { Mutation } from './mutations';

/**
 * Clients in two networks. Attempts from one network would wait for each other within the process, which the
 * interleaver cannot observe.
 */
export const HOME = { ipAddress: '192.0.2.1' };
export const ELSEWHERE = { ipAddress: '198.51.100.1' };
export const CLIENTS: readonly [ClientInfo, ClientInfo] = [HOME, ELSEWHERE];

/** A user with two sessions, of which one was refreshed once. */
export interface Fixture {
  readonly environment: RaceEnvironment;
  readonly userId: string;
  readonly session: OpenedSession;
  readonly other: OpenedSession;
  /** Callers within the two sessions, whose requests the guard has accepted before. */
  readonly principal: AuthPrincipal;
  readonly otherPrincipal: AuthPrincipal;
  /** The first refresh token of the session, which has already been used. */
  readonly usedToken: string;
}

/** Which instances the two operations use, and which of the operations is held at each of its calls in turn. */
export interface Setting {
  readonly instances: 1 | 2;
  readonly held: 'first' | 'second';
}

/** Over two instances, because an instance knows the locks that it holds itself. */
export const OVER_TWO_INSTANCES: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

/** Runs a scenario once for each call of the held operation. Returns the number of these calls. */
export interface Scenario {
  (environment: RaceEnvironment, setting: Setting): Promise<number>;
  /** Whether both operations are the same, so that it does not matter which one is held. */
  readonly isSymmetric?: boolean;
}

/** Runs two operations while one of them is held at one of its calls. */
export interface Race {
  /** @param between reads something when one operation is done or waits for a lock, while the other is held */
  run<A, B, C = void>(
    a: () => Promise<A>,
    b: () => Promise<B>,
    between?: () => Promise<C>,
  ): Promise<[Settled<A>, Settled<B>, C]>;
}

type Apps = readonly [TestApplication, TestApplication];

/** @param once sets up a race, runs it, and checks its outcome */
export function scenario(once: (environment: RaceEnvironment, race: Race, apps: Apps) => Promise<unknown>): Scenario {
  return async (environment, { instances, held }) => {
    const { interleaver } = environment;
    for (let stopAt = 1; ; stopAt++) {
      const race: Race = {
        async run(a, b, between = async () => undefined as never) {
          if (held === 'first') return interleaver.run(stopAt, a, b, between);
          const [second, first, seen] = await interleaver.run(stopAt, b, a, between);
          return [first, second, seen];
        },
      };
      try {
        await once(environment, race, [environment.apps[0], environment.apps[instances - 1]!]);
      } catch (error) {
        if (error instanceof NoSuchCall) return stopAt - 1;
        throw error;
      }
    }
  };
}

/** Runs the same operation in both instances, or twice in one. */
type Both = <A>(
  operation: (app: TestApplication, index: 0 | 1) => Promise<A>,
) => Promise<readonly [Settled<A>, Settled<A>]>;

/** Returns the scenario of an operation that races against itself. */
export function symmetric(once: (environment: RaceEnvironment, both: Both, apps: Apps) => Promise<unknown>): Scenario {
  const run = scenario((environment, race, apps) => {
    const both: Both = async (operation) => {
      const [one, two] = await race.run(
        () => operation(apps[0], 0),
        () => operation(apps[1], 1),
      );
      return [one, two];
    };
    return once(environment, both, apps);
  });
  return Object.assign(run, { isSymmetric: true });
}

/** Two instances on one database. Tests can hold and change the database calls of both instances. */
export class RaceEnvironment {
  private users = 0;
  private mutation: Mutation = () => false;
  /** The number of statements that the mutation has changed. */
  mutations = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly apps: readonly [TestApplication, TestApplication],
    readonly interleaver: Interleaver,
  ) {}

  static async create(name: DatabaseName, auth: AuthModuleOptions = {}): Promise<RaceEnvironment> {
    const database = await createDatabase(name);
    const start = (): Promise<TestApplication> => TestApplication.start({ database, auth, users: [] });
    const apps = [await start(), await start()] as const;
    // An operation that is held for a long time on a machine under load must not reach its deadline.
    for (const app of apps) Object.assign(app.nest.get(Database), { answerWithinMs: 30_000 });
    const taps = apps.map((app) => new Tap(app));
    const setHook = (hook: Hook): void => {
      for (const tap of taps) {
        tap.hook = {
          before: (call) => {
            if (environment.mutation(call)) environment.mutations++;
            return hook.before?.(call);
          },
        };
      }
    };
    const environment = new RaceEnvironment(database, apps, await Interleaver.create(database, setHook));
    setHook({});
    return environment;
  }

  /** Changes statements from now on, for example by removing a guard condition. */
  mutate(mutation: Mutation): void {
    this.mutation = mutation;
    this.mutations = 0;
  }

  /** Creates a user for one interleaving, and returns the id. */
  async newUser(): Promise<string> {
    const { id } = await this.apps[0].auth.createUser({ username: `user ${this.users++}`, password: PASSWORD });
    for (const app of this.apps) app.signals.length = 0;
    return String(id);
  }

  async newFixture(): Promise<Fixture> {
    const userId = await this.newUser();
    const other = await this.open(userId);
    const opened = await this.open(userId);
    const [app] = this.apps;
    const session = { ...opened, ...(await app.auth.refresh(opened.refreshToken)) };
    const principal = await app.principal(session.accessToken);
    const otherPrincipal = await app.principal(other.accessToken);
    const usedToken = opened.refreshToken;
    return { environment: this, userId, other, session, principal, otherPrincipal, usedToken };
  }

  username(): string {
    return `user ${this.users - 1}`;
  }

  open(userId: string): Promise<OpenedSession> {
    return this.apps[0].auth.openSession(userId);
  }

  query<Row>(sql: string): Promise<Row[]> {
    return this.apps[0].dataSource.query(sql);
  }

  sessionsOf(userId: string): Promise<AuthSession[]> {
    const order = { id: 'ASC' } as const;
    return this.apps[0].dataSource.getRepository(AuthSession).find({ where: { userId }, order });
  }

  async sessionOf({ userId, session }: Pick<Fixture, 'userId' | 'session'>): Promise<AuthSession> {
    return (await this.sessionsOf(userId)).find(({ id }) => id === session.sessionId)!;
  }

  /** Returns the number of events of a user by name. Replays are counted separately. */
  async eventsOf(userId: string): Promise<Record<string, number>> {
    const rows = await this.query<{ event: string; extra: string }>(
      `SELECT event, extra FROM auth_events WHERE user_id = '${userId}'`,
    );
    const counts: Record<string, number> = {};
    for (const { event, extra } of rows) {
      const name = extra.includes('"replayed":true') ? 'replay' : event;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  /** Returns the signals with the given name that either instance has emitted. */
  sent<Name extends AuthSignalName>(name: Name): AuthSignals[Name][] {
    return this.apps.flatMap((app) => app.sent(name));
  }

  /** Returns how often the end of the session was published. */
  endsOf(sessionId: string): number {
    return this.sent('user_logged_out').filter((end) => end.session.id === sessionId).length;
  }

  async close(): Promise<void> {
    await this.interleaver.close();
    for (const app of this.apps) await app.close();
    await this.database.drop();
  }
}
