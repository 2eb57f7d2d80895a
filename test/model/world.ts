import { AuthUser } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { DrivenClock } from '../support/driven-clock';
import { Instance, RecordingBus, RepeatableCrypto } from './instance';
import { Invariants } from './invariants';
import { Model } from './model';
import type { ModelOptions } from './options';
import { digest, readRows, storedOf } from './rows';
import { signalKey } from './signals';
import type { ModelUser, Pair, Stored } from './state';

export const PASSWORDS = ['correct horse battery staple', 'another horse battery staple'] as const;

const TABLES = [
  'auth_refresh_tokens',
  'auth_sessions',
  'auth_events',
  'auth_login_failures',
  'auth_password_resets',
  'auth_user_locks',
  'auth_users',
];

/** Two instances of the library on one database, and what is looked at after each step. */
export class World {
  private readonly invariants = new Invariants();

  private constructor(
    private readonly dataSource: DataSource,
    private readonly instances: readonly Instance[],
    readonly clock: DrivenClock,
    private readonly signals: RecordingBus,
  ) {}

  /** Clean-up touches everything, so a run begins with empty tables. */
  static async create(dataSource: DataSource, options: ModelOptions): Promise<{ model: Model; real: World }> {
    for (const table of TABLES) await dataSource.query(`DELETE FROM ${table}`);
    const [clock, signals] = [new DrivenClock(), new RecordingBus()];
    const on = { dataSource, clock, signals, crypto: new RepeatableCrypto(), options };
    const instances = [await Instance.start(on), await Instance.start(on)];
    const model = new Model(options, clock.now());
    for (const name of ['alice', 'bob', 'carol']) {
      const { id } = await instances[0]!.auth.createUser({ username: name, password: PASSWORDS[0] });
      model.users.push({ id: String(id), name, active: true, password: PASSWORDS[0], failures: null });
    }
    return { model, real: new World(dataSource, instances, clock, signals) };
  }

  instance(index: number): Instance {
    return this.instances[index]!;
  }

  /** What the host does in its own table. */
  async setActive({ id }: ModelUser, active: boolean): Promise<void> {
    await this.dataSource.getRepository(AuthUser).update({ id }, { active });
  }

  /** Whether it was this pair, of two, whose access token the session has now. */
  async hasAccess(sessionId: string, { accessToken }: Pair): Promise<boolean> {
    const { sessions } = await readRows(this.dataSource);
    return sessions.some((row) => row['id'] === sessionId && row['access_digest'] === digest(accessToken));
  }

  async stored(): Promise<Stored> {
    return storedOf(await readRows(this.dataSource));
  }

  /** Compares what is stored and was told with the model. */
  async compare(model: Model): Promise<void> {
    for (const instance of this.instances) await instance.settle();
    const rows = await readRows(this.dataSource);
    model.adoptExpiries(storedOf(rows));
    this.invariants.check(rows, model);
    const told = this.signals.sent.splice(0).map((signal) => signalKey(signal, model));
    const expected = model.signals.splice(0);
    expect(told.sort()).toEqual(expected.sort());
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
  }
}
