import { AuthUser, type AuthModuleOptions, type AuthPrincipal, type OpenedSession } from 'nestjs-session-auth';
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
}

/** One database and two instances on it, whose calls can be held and changed. */
export class RaceStage {
  private users = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly hosts: readonly [Host, Host],
    readonly interleaver: Interleaver,
    private readonly mutated: { count: number },
  ) {}

  /** @param mutate changes statements as if a gate were not in the code; tells whether it did */
  static async create(
    name: DatabaseName,
    auth: AuthModuleOptions = {},
    mutate: (call: Call) => boolean = () => false,
  ): Promise<RaceStage> {
    const database = await createDatabase(name);
    const start = (): Promise<Host> => Host.start({ database, auth, users: [] });
    const hosts = [await start(), await start()] as const;
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
    return new RaceStage(database, hosts, await Interleaver.create(database, setHook), mutated);
  }

  /** How many statements were changed. */
  get mutations(): number {
    return this.mutated.count;
  }

  /** A user of their own for each interleaving. */
  async newUser(): Promise<string> {
    const { id } = await this.hosts[0].auth.createUser({ username: `user ${this.users++}`, password: PASSWORD });
    for (const host of this.hosts) host.signals.length = 0;
    return String(id);
  }

  username(): string {
    return `user ${this.users - 1}`;
  }

  open(userId: string): Promise<OpenedSession> {
    return this.hosts[0].auth.openSession(userId);
  }

  async principal(accessToken: string): Promise<AuthPrincipal> {
    return (await this.hosts[0].auth.authenticate(accessToken))!;
  }

  async setActive(userId: string, active: boolean): Promise<void> {
    await this.hosts[1].dataSource.getRepository(AuthUser).update({ id: userId }, { active });
  }

  sessionsOf(userId: string): Promise<SessionRow[]> {
    return this.hosts[0].dataSource.query(
      `SELECT id, user_id, state, end_reason, refresh_digest, generation FROM auth_sessions
       WHERE user_id = '${userId}' ORDER BY id`,
    );
  }

  /** Names of the events of a user and how many there are of each. */
  async eventsOf(userId: string): Promise<Record<string, number>> {
    const rows: { event: string; n: unknown }[] = await this.hosts[0].dataSource.query(
      `SELECT event, COUNT(*) AS n FROM auth_events WHERE user_id = '${userId}' GROUP BY event`,
    );
    return Object.fromEntries(rows.map(({ event, n }) => [event, Number(n)]));
  }

  async usedTokensOf(sessionId: string): Promise<number> {
    const rows: unknown[] = await this.hosts[0].dataSource.query(
      `SELECT digest FROM auth_refresh_tokens WHERE session_id = '${sessionId}' AND state = 'used'`,
    );
    return rows.length;
  }

  async close(): Promise<void> {
    await this.interleaver.close();
    for (const host of this.hosts) await host.close();
    await this.database.drop();
  }
}
