import {
  AuthError,
  AuthService,
  AuthSession,
  PruningService,
  type AuthPrincipal,
  type CreatedUser,
} from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { createDatabase } from '../../../test/support/databases';
import type { DatabaseName } from '../databases';
import { openLibrary } from '../application/in-process';
import { copyRow } from '../fill/copy-rows';
import { openAndLogOut } from '../fill/ended-session';
import { SQL } from '../fill/sql';
import { durationOf } from '../measure/drive';
import { shuffled, spread, type Spread } from '../measure/statistics';
import type { Teardown } from '../measure/teardown';
import type { Settings } from '../settings';
import { log, type Part } from './part';

/** The maximum number of active sessions of a user. */
const ACTIVE = 1_000;

const PASSWORDS = ['correct horse battery staple', 'staple battery horse correct'] as const;
const NETWORK = { ipAddress: '192.0.2.1' };

/** The device of all sessions. */
const KNOWN_DEVICE = {
  ...NETWORK,
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
};

/** A different device on the same network. A login compares it with every session of the network. */
const NEW_DEVICE = {
  ...NETWORK,
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
};

export const BOUNDED_OPERATIONS = [
  'passwordChange',
  'logoutAll',
  'reset',
  'disabling',
  'reuse',
  'login',
  'refresh',
  'listing',
] as const;

export type BoundedOperation = (typeof BOUNDED_OPERATIONS)[number];

export interface BoundedCell {
  readonly database: DatabaseName;
  /** The duration of each operation, in milliseconds. */
  readonly ms: Readonly<Record<BoundedOperation, Spread>>;
}

export interface BoundedResult {
  readonly rounds: number;
  readonly active: number;
  /** The number of ended sessions at the start. The operations end further sessions. */
  readonly ended: number;
  readonly cells: readonly BoundedCell[];
}

/** Measures operations on a user with the maximum number of active sessions, and with many ended sessions. */
export const measureBounded: Part<BoundedResult> = async (settings, teardown) => {
  const cells: BoundedCell[] = [];
  for (const database of settings.databases) {
    log(`bounded: ${database}, filling in ${settings.ended} ended sessions`);
    const fixture = await Fixture.create(database, settings, teardown);
    const durations = Object.fromEntries(BOUNDED_OPERATIONS.map((name) => [name, [] as number[]]));
    for (let round = 1; round <= settings.rounds; round++) {
      log(`bounded: ${database}, round ${round} of ${settings.rounds}`);
      for (const name of shuffled(BOUNDED_OPERATIONS)) durations[name]!.push(await fixture.measure(name));
    }
    const ms = Object.fromEntries(BOUNDED_OPERATIONS.map((name) => [name, spread(durations[name]!)]));
    cells.push({ database, ms: ms as BoundedCell['ms'] });
    await teardown.run();
  }
  return { rounds: settings.rounds, active: ACTIVE, ended: settings.ended, cells };
};

interface Current {
  readonly principal: AuthPrincipal;
  readonly refreshToken: string;
}

interface Prepared {
  readonly run: () => Promise<unknown>;
  /**
   * The number of active sessions after the operation. The benchmark checks this number, so that it does not
   * measure an operation without effect.
   */
  readonly left: number;
}

/** A user with many ended sessions, and with the maximum number of active sessions before each operation. */
class Fixture {
  private password: string = PASSWORDS[0];

  private constructor(
    private readonly database: DatabaseName,
    private readonly auth: AuthService,
    private readonly dataSource: DataSource,
    private readonly user: CreatedUser,
  ) {}

  static async create(database: DatabaseName, { options, ended }: Settings, teardown: Teardown): Promise<Fixture> {
    const testDatabase = await createDatabase(database, { isDurable: true });
    teardown.add(() => testDatabase.drop());
    const app = await openLibrary(testDatabase.options, options);
    teardown.add(() => app.close());
    // Stops pruning, which would remove most of the ended sessions.
    await app.get(PruningService).beforeApplicationShutdown();
    const [auth, dataSource] = [app.get(AuthService), app.get(DataSource)];
    const user = await auth.createUser({ username: 'a user with many sessions', password: PASSWORDS[0] });
    const endedId = await openAndLogOut(auth, user, KNOWN_DEVICE);
    await copyRow(dataSource, database, AuthSession, endedId, { count: ended - 1 });
    const fixture = new Fixture(database, auth, dataSource, user);
    await fixture.refill();
    const tables = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    for (const statement of SQL[database].analyze(tables)) await dataSource.query(statement);
    return fixture;
  }

  async measure(name: BoundedOperation): Promise<number> {
    const { run, left } = await this.prepare(name, await this.refill());
    const ms = await durationOf(run);
    if (name === 'disabling') await this.auth.enableUser(this.user.id);
    const active = Math.min(ACTIVE, await this.countActive());
    if (active !== left) throw new Error(`${name} left ${active} active sessions, expected ${left}.`);
    return ms;
  }

  private async prepare(name: BoundedOperation, current: Current): Promise<Prepared> {
    const { auth, user } = this;
    switch (name) {
      case 'passwordChange':
        return { run: () => this.changePassword(current.principal), left: 1 };
      case 'logoutAll':
        return { run: () => auth.logoutAll(current.principal, { keepCurrent: false }, KNOWN_DEVICE), left: 0 };
      case 'reset':
        return { run: () => auth.resetPassword(user.id, this.password, KNOWN_DEVICE), left: 0 };
      case 'disabling':
        return { run: () => auth.disableUser(user.id, KNOWN_DEVICE), left: 0 };
      case 'reuse':
        await auth.refresh(current.refreshToken, KNOWN_DEVICE);
        return { run: () => this.reuse(current.refreshToken), left: 0 };
      case 'login': {
        const credentials = { username: user.username, password: this.password };
        return { run: () => auth.login(credentials, NEW_DEVICE), left: ACTIVE };
      }
      case 'refresh':
        return { run: () => auth.refresh(current.refreshToken, KNOWN_DEVICE), left: ACTIVE };
      case 'listing':
        return { run: () => auth.listSessions(user.id), left: ACTIVE };
    }
  }

  private async changePassword(principal: AuthPrincipal): Promise<void> {
    const currentPassword = this.password;
    const newPassword = PASSWORDS.find((password) => password !== currentPassword)!;
    await this.auth.changePassword(principal, { currentPassword, newPassword }, KNOWN_DEVICE);
    this.password = newPassword;
  }

  private async reuse(refreshToken: string): Promise<void> {
    const isRefused = await this.auth.refresh(refreshToken, KNOWN_DEVICE).then(
      () => false,
      (error: unknown) => error instanceof AuthError && error.code === 'invalid_refresh_token',
    );
    if (!isRefused) throw new Error('A used refresh token was not refused.');
  }

  /** Opens one session, and copies it until the user has the maximum number of active sessions. */
  private async refill(): Promise<Current> {
    const { accessToken, refreshToken, sessionId } = await this.auth.openSession(this.user, KNOWN_DEVICE);
    const count = ACTIVE - (await this.countActive());
    if (count > 0) await copyRow(this.dataSource, this.database, AuthSession, sessionId, { count });
    return { principal: (await this.auth.authenticate(accessToken, KNOWN_DEVICE))!, refreshToken };
  }

  private countActive(): Promise<number> {
    const userId = String(this.user.id);
    return this.dataSource.getRepository(AuthSession).countBy({ userId, state: 'active' });
  }
}
