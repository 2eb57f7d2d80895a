import { AuthUser, type AuthPrincipal, type AuthService } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { networkOf } from '../../libs/auth/src/history/event-log';
import { DrivenClock } from '../support/driven-clock';
import { KINDS, type Action, type Configuration } from './actions';
import { Instance, outcome, type Sent } from './instance';
import { Model, SECONDS, type InstanceOptions, type Pair, type Refusal } from './model';
import { assertSameSignals, StoredRows } from './stored-rows';

export const PASSWORD = 'correct horse battery staple';

/** Client addresses. The last two belong to one network. */
const ADDRESSES = ['192.0.2.1', '198.51.100.7', '2001:db8::1', '2001:db8::2'] as const;

/** A session that the library opened, or its refusal. */
type Opened = string | (Pair & { readonly sessionId: string });

/** A client with a session, and every pair that the client has received. The latest pair is last. */
interface Client {
  readonly sessionId: string;
  readonly pairs: Pair[];
}

/** Runs each action on the library and on the model, and compares what they return, store and emit. */
export class Environment {
  readonly model: Model;
  readonly stored: StoredRows;
  /** The instance and the user of the current action, and its client, if it has one. */
  index = 0;
  user = '';
  client!: Client;
  private readonly clients: Client[] = [];
  private readonly clock = new DrivenClock();
  private readonly sent: Sent[] = [];
  private readonly instances: Instance[] = [];
  private readonly options: InstanceOptions[] = [];
  private readonly users: string[] = [];

  private constructor(
    private readonly dataSource: DataSource,
    private readonly configuration: Configuration,
  ) {
    this.model = new Model(configuration.common, this.clock.now());
    this.stored = new StoredRows(dataSource, this.model);
  }

  static async create(dataSource: DataSource, configuration: Configuration): Promise<Environment> {
    const environment = new Environment(dataSource, configuration);
    for (const { tableName } of dataSource.entityMetadatas) await dataSource.query(`DELETE FROM ${tableName}`);
    for (const index of [0, 1]) await environment.restart(index, configuration.instance);
    for (const username of ['alice', 'bob']) {
      environment.users.push(String((await environment.auth.createUser({ username, password: PASSWORD })).id));
    }
    return environment;
  }

  get auth(): AuthService {
    return this.instances[this.index]!.auth;
  }

  /** The latest pair of the client. */
  get latest(): Pair {
    return this.client.pairs.at(-1)!;
  }

  /** Returns a pair of the client by an index, modulo the number of pairs. The latest pair has the index 0. */
  issued(index: number): Pair {
    const { pairs } = this.client;
    return pairs.at(-1 - (index % pairs.length))!;
  }

  async step(action: Action): Promise<void> {
    this.index = action.instance;
    this.user = this.users[action.user]!;
    this.model.instance = this.options[this.index]!;
    this.client = this.clients[action.client! % this.clients.length]!;
    if (!('client' in action) || this.client) await KINDS[action.kind]!.run(this, action as never);
    await this.flush();
    await this.stored.assertSame();
    assertSameSignals(this.sent.splice(0), this.model.signals.splice(0));
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
  }

  advanceTo(instant: number): void {
    this.advance(Math.max(0, instant - this.model.now));
  }

  advance(ms: number): void {
    this.clock.advance(ms);
    this.model.now = this.clock.now();
  }

  async setActive(user: string, active: boolean): Promise<void> {
    await this.dataSource.getRepository(AuthUser).update({ id: user }, { active });
    if (active) this.model.inactive.delete(user);
    else this.model.inactive.add(user);
  }

  async prune(dryRun = false): Promise<void> {
    const { pruning } = this.instances[this.index]!;
    expect(await pruning.prune({ dryRun })).toMatchObject(this.model.prune(dryRun));
    if (!dryRun) this.stored.forgetEventsBefore(this.model.now - SECONDS.retention * 1000);
  }

  assertOpened(opened: Opened, refusal: Refusal | null): void {
    if (typeof opened === 'string' || refusal) return expect(opened).toBe(refusal);
    const { sessionId, accessToken, refreshToken } = opened;
    const pair = { accessToken, refreshToken };
    this.model.opened(this.user, sessionId, pair);
    this.clients.push({ sessionId, pairs: [pair] });
  }

  async refresh({ refreshToken: token }: Pair, addressIndex: number): Promise<void> {
    const ipAddress = ADDRESSES[addressIndex]!;
    const network = networkOf(ipAddress);
    const actual = await outcome(this.auth.refresh(token, { ipAddress }));
    const expected = this.model.refresh(token, network);
    if (expected === 'refused') return expect(actual).toBe('invalid_refresh_token');
    if (expected !== 'new') return expect(actual).toEqual(expected);
    expect(actual).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      accessTokenExpiresAt: expect.any(Date),
      refreshTokenExpiresAt: expect.any(Date),
      persistent: true,
    });
    const pair = actual as Pair;
    expect(pair.refreshToken === token).toBe(!this.model.instance.rotateRefreshTokens);
    this.model.refreshed(token, network, pair);
    this.client.pairs.push(pair);
  }

  async authenticate(token: string): Promise<AuthPrincipal | null> {
    const principal = await this.auth.authenticate(token);
    expect(principal?.sessionId ?? null).toBe(this.model.authenticate(token)?.id ?? null);
    await this.flush();
    return principal;
  }

  async restart(index: number, changed: InstanceOptions): Promise<void> {
    await this.instances[index]?.stop();
    // A grace period requires rotation.
    const options = changed.rotateRefreshTokens ? changed : { ...changed, refreshReuseGraceSeconds: 0 };
    this.options[index] = options;
    this.instances[index] = await Instance.create(
      this.dataSource,
      this.clock,
      {
        ...this.configuration.common,
        ...options,
        accessTokenTtlSeconds: SECONDS.access,
        refreshTokenTtlSeconds: SECONDS.refresh,
        activityIntervalSeconds: SECONDS.activity,
        history: { retentionDays: SECONDS.retention / 86_400 },
        pruneIntervalSeconds: false,
      },
      this.sent,
    );
  }

  private async flush(): Promise<void> {
    for (const instance of this.instances) await instance.flush();
  }
}
