import {
  AuthUser,
  type AuthModuleOptions,
  type AuthPrincipal,
  type AuthSignalName,
  type AuthSignals,
  type OpenedSession,
} from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { createDatabase, type DatabaseName, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';
import { Tap, type Call, type Hook } from '../support/tap';
import { Interleaver } from './interleave';

/** A stored session. */
export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly state: string;
  readonly end_reason: string | null;
  readonly refresh_digest: string;
  readonly generation: number;
  readonly check_at: number;
  readonly replay_count: number;
  readonly first_used_at: number | null;
}

/** A user with two sessions, of which one was refreshed once. */
export interface Fixture {
  readonly environment: RaceEnvironment;
  readonly userId: string;
  readonly session: OpenedSession;
  readonly other: OpenedSession;
  /** The first refresh token of the session, which has already been used. */
  readonly usedToken: string;
}

/** Two instances on one database. Tests can hold and change the database calls of both instances. */
export class RaceEnvironment {
  private users = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly apps: readonly [TestApplication, TestApplication],
    readonly interleaver: Interleaver,
    private readonly mutated: { count: number },
  ) {}

  /**
   * @param mutate removes a guard condition from a statement, and returns whether the statement contained the
   * condition
   */
  static async create(
    name: DatabaseName,
    auth: AuthModuleOptions = {},
    mutate: (call: Call) => boolean = () => false,
  ): Promise<RaceEnvironment> {
    const database = await createDatabase(name);
    const start = (): Promise<TestApplication> => TestApplication.start({ database, auth, users: [] });
    const apps = [await start(), await start()] as const;
    // An operation that is held for a long time on a machine under load must not reach its deadline.
    for (const app of apps) Object.assign(app.nest.get(Database), { answerWithinMs: 30_000 });
    const mutated = { count: 0 };
    const taps = apps.map((app) => new Tap(app));
    const setHook = (hook: Hook): void => {
      for (const tap of taps) {
        tap.hook = {
          ...hook,
          before: (call) => {
            if (mutate(call)) mutated.count++;
            return hook.before?.(call);
          },
        };
      }
    };
    setHook({});
    return new RaceEnvironment(database, apps, await Interleaver.create(database, setHook), mutated);
  }

  /** The number of statements that `mutate` has changed. */
  get mutations(): number {
    return this.mutated.count;
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
    const pair = await this.apps[0].auth.refresh(opened.refreshToken);
    return { environment: this, userId, other, session: { ...opened, ...pair }, usedToken: opened.refreshToken };
  }

  username(): string {
    return `user ${this.users - 1}`;
  }

  open(userId: string): Promise<OpenedSession> {
    return this.apps[0].auth.openSession(userId);
  }

  /** Authenticates an access token. Within a grace period, this counts as the first use of the token. */
  async principal(accessToken: string): Promise<AuthPrincipal> {
    return (await this.apps[0].auth.authenticate(accessToken))!;
  }

  async setActive(userId: string, active: boolean): Promise<void> {
    await this.apps[1].dataSource.getRepository(AuthUser).update({ id: userId }, { active });
  }

  async sessionsOf(userId: string): Promise<SessionRow[]> {
    const rows: SessionRow[] = await this.apps[0].dataSource.query(
      `SELECT id, user_id, state, end_reason, refresh_digest, generation, check_at, replay_count, first_used_at
       FROM auth_sessions WHERE user_id = '${userId}' ORDER BY id`,
    );
    return rows.map((row) => ({
      ...row,
      generation: Number(row.generation),
      check_at: Number(row.check_at),
      first_used_at: row.first_used_at === null ? null : Number(row.first_used_at),
    }));
  }

  async sessionOf({ userId, session }: Fixture): Promise<SessionRow> {
    return (await this.sessionsOf(userId)).find(({ id }) => id === session.sessionId)!;
  }

  /** Returns the number of events of a user by name. Replays are counted separately. */
  async eventsOf(userId: string): Promise<Record<string, number>> {
    const rows: { event: string; extra: string }[] = await this.apps[0].dataSource.query(
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

  async close(): Promise<void> {
    await this.interleaver.close();
    for (const app of this.apps) await app.close();
    await this.database.drop();
  }
}
