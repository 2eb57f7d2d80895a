import {
  AuthUser,
  type AuthModuleOptions,
  type AuthPrincipal,
  type AuthSignalName,
  type AuthSignals,
  type OpenedSession,
} from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/store/database/database';
import { createDatabase, type DatabaseName, type TestDatabase } from '../support/databases';
import { Host, PASSWORD } from '../support/host';
import { Tap, type Call, type Hook } from '../support/tap';
import { Interleaver } from './interleave';

/** A session row as the database holds it. */
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

/** A user with two sessions, of which one was refreshed before. */
export interface Fixture {
  readonly environment: RaceEnvironment;
  readonly userId: string;
  readonly session: OpenedSession;
  readonly other: OpenedSession;
  /** The first refresh token of the session, which was exchanged. */
  readonly usedToken: string;
}

/** One database and two instances on it, whose calls can be held and changed. */
export class RaceEnvironment {
  private users = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly hosts: readonly [Host, Host],
    readonly interleaver: Interleaver,
    private readonly mutated: { count: number },
  ) {}

  /** @param mutate changes statements as if the code had no such guard condition; returns whether it did */
  static async create(
    name: DatabaseName,
    auth: AuthModuleOptions = {},
    mutate: (call: Call) => boolean = () => false,
  ): Promise<RaceEnvironment> {
    const database = await createDatabase(name);
    const start = (): Promise<Host> => Host.start({ database, auth, users: [] });
    const hosts = [await start(), await start()] as const;
    // A side that is held for long, on a machine under load, must not run out of time.
    for (const host of hosts) Object.assign(host.app.get(Database), { answerWithinMs: 30_000 });
    const mutated = { count: 0 };
    const taps = hosts.map((host) => new Tap(host));
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
    return new RaceEnvironment(database, hosts, await Interleaver.create(database, setHook), mutated);
  }

  /** How many statements were changed. */
  get mutations(): number {
    return this.mutated.count;
  }

  /** A user of its own for each interleaving. */
  async newUser(): Promise<string> {
    const { id } = await this.hosts[0].auth.createUser({ username: `user ${this.users++}`, password: PASSWORD });
    for (const host of this.hosts) host.signals.length = 0;
    return String(id);
  }

  async newFixture(): Promise<Fixture> {
    const userId = await this.newUser();
    const other = await this.open(userId);
    const opened = await this.open(userId);
    const pair = await this.hosts[0].auth.refresh(opened.refreshToken);
    return { environment: this, userId, other, session: { ...opened, ...pair }, usedToken: opened.refreshToken };
  }

  username(): string {
    return `user ${this.users - 1}`;
  }

  open(userId: string): Promise<OpenedSession> {
    return this.hosts[0].auth.openSession(userId);
  }

  /** Within a grace period this is the first use of the access token. */
  async principal(accessToken: string): Promise<AuthPrincipal> {
    return (await this.hosts[0].auth.authenticate(accessToken))!;
  }

  async setActive(userId: string, active: boolean): Promise<void> {
    await this.hosts[1].dataSource.getRepository(AuthUser).update({ id: userId }, { active });
  }

  async sessionsOf(userId: string): Promise<SessionRow[]> {
    const rows: SessionRow[] = await this.hosts[0].dataSource.query(
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

  /** Names of the events of a user and how many there are of each; replays are counted apart. */
  async eventsOf(userId: string): Promise<Record<string, number>> {
    const rows: { event: string; extra: string }[] = await this.hosts[0].dataSource.query(
      `SELECT event, extra FROM auth_events WHERE user_id = '${userId}'`,
    );
    const counts: Record<string, number> = {};
    for (const { event, extra } of rows) {
      const name = extra.includes('"replayed":true') ? 'replay' : event;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  /** The signals of one name, of both instances. */
  sent<Name extends AuthSignalName>(name: Name): AuthSignals[Name][] {
    return this.hosts.flatMap((host) => host.sent(name));
  }

  async close(): Promise<void> {
    await this.interleaver.close();
    for (const host of this.hosts) await host.close();
    await this.database.drop();
  }
}
