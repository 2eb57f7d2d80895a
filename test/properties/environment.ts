import { AuthUser, type AuthPrincipal, type AuthService, type Credentials } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { networkOf } from '../../libs/auth/src/history/event-log';
import { DrivenClock } from '../support/driven-clock';
import { secondFactorIf } from '../support/second-factor';
import { KINDS, type Action, type Configuration } from './actions';
import { Instance, outcome, type Sent } from './instance';
import { Model, SECONDS, type InstanceOptions, type ModelProofs, type Pair, type Refusal } from './model';
import { assertSameSignals, StoredRows } from './stored-rows';

export const PASSWORD = 'correct horse battery staple';
const USERNAMES = ['alice', 'bob'] as const;

/** Client addresses. The last two belong to one network. */
export const ADDRESSES = ['192.0.2.1', '198.51.100.7', '2001:db8::1', '2001:db8::2'] as const;

export const NO_PROOFS: ModelProofs = { methods: {}, data: null };

/** A session that the library opened, or its refusal. */
export type Opened = string | (Pair & { readonly sessionId: string });

/** What the check of a secret throws. */
export class CheckError extends Error {}

/** A client with a session, and every pair that the client has received. The latest pair is last. */
export interface Client {
  readonly sessionId: string;
  readonly pairs: Pair[];
}

/** Runs each action on the library and on the model, and compares what they return, store and emit. */
export class Environment {
  readonly model: Model;
  readonly stored: StoredRows;
  /** The login tickets that were issued. */
  readonly tickets: string[] = [];
  /** The instance and the user of the current action, and its client and ticket, if it has one. */
  index = 0;
  user = '';
  client!: Client;
  ticket = '';
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
    for (const username of USERNAMES) {
      environment.users.push(String((await environment.auth.createUser({ username, password: PASSWORD })).id));
    }
    return environment;
  }

  get auth(): AuthService {
    return this.instances[this.index]!.auth;
  }

  get credentials(): Credentials {
    return { username: this.usernameOf(this), password: PASSWORD };
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

  usernameOf({ user }: { readonly user: string }): string {
    return USERNAMES[this.users.indexOf(user)]!;
  }

  async step(action: Action): Promise<void> {
    this.index = action.instance;
    this.user = this.users[action.user]!;
    this.model.instance = this.options[this.index]!;
    const { clients, tickets } = this;
    this.client = clients[action.client! % clients.length]!;
    this.ticket = tickets[tickets.length - 1 - (action.ticket! % tickets.length)]!;
    const isPossible = (!('client' in action) || this.client) && (!('ticket' in action) || this.ticket);
    if (isPossible) await KINDS[action.kind]!.run(this, action as never);
    for (const instance of this.instances) await instance.flush();
    await this.stored.assertSame();
    // This signal is emitted at most once a minute per process: see test/sessions/refresh.spec.ts.
    const sent = this.sent.splice(0).filter(({ name }) => name !== 'lost_commits_suspected');
    assertSameSignals(sent, this.model.signals.splice(0));
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

  async prune(dryRun: boolean): Promise<void> {
    const { pruning } = this.instances[this.index]!;
    expect(await pruning.prune({ dryRun })).toMatchObject(this.model.prune({ dryRun }));
    if (!dryRun) this.stored.forgetEventsBefore(this.model.now - SECONDS.retention * 1000);
  }

  /** Records a correct password of a user who needs a second factor. */
  firstFactor(ticket: string): void {
    this.model.clearFailures(this.user, 'pwd');
    this.ticketIssued(ticket, ['pwd'], null);
  }

  ticketIssued(ticket: string, methods: readonly string[], data: object | null): void {
    this.tickets.push(ticket);
    this.model.ticketIssued(this.user, ticket, methods, data);
  }

  assertOpenedWith(opened: Opened): void {
    const ticket = this.model.tickets.find(this.ticket);
    const refusal = this.model.admitTicket(this.ticket);
    if (!ticket || refusal) return expect(opened).toBe(refusal);
    this.model.tickets.remove(ticket);
    this.assertOpened(ticket.user, opened, null, ticket);
  }

  assertOpened(user: string, opened: Opened, refusal: Refusal | null, proofs: ModelProofs): void {
    if (typeof opened === 'string' || refusal) return expect(opened).toBe(refusal);
    const { sessionId, accessToken, refreshToken } = opened;
    const pair = { accessToken, refreshToken };
    this.model.opened(user, sessionId, pair, proofs);
    this.clients.push({ sessionId, pairs: [pair] });
  }

  async refresh({ refreshToken }: Pair, network: number): Promise<void> {
    const ipAddress = ADDRESSES[network]!;
    this.assertRefreshed(refreshToken, ipAddress, await outcome(this.auth.refresh(refreshToken, { ipAddress })));
  }

  assertRefreshed(token: string, ipAddress: string, actual: string | Pair): void {
    const network = networkOf(ipAddress);
    const expected = this.model.refresh(token, network);
    if (expected === 'refused') return expect(actual).toBe('invalid_refresh_token');
    if (expected !== 'new') return expect(actual).toEqual(expected);
    const pair = this.assertPair(actual);
    expect(pair.refreshToken === token).toBe(!this.model.instance.rotateRefreshTokens);
    this.model.refreshed(token, network, pair);
    this.client.pairs.push(pair);
  }

  assertPair(actual: string | Pair): Pair {
    expect(actual).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      accessTokenExpiresAt: expect.any(Date),
      refreshTokenExpiresAt: expect.any(Date),
      persistent: true,
    });
    return actual as Pair;
  }

  async authenticate(token: string): Promise<AuthPrincipal | null> {
    const principal = await this.auth.authenticate(token);
    expect(principal?.sessionId ?? null).toBe(this.model.authenticate(token)?.id ?? null);
    // Compare before anything else changes the session.
    for (const instance of this.instances) await instance.flush();
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
        // The model counts failures but has no delays.
        failedLogins: { throttleFrom: false },
        secondFactor: secondFactorIf(({ id }) => this.model.enrolled.has(String(id))),
      },
      this.sent,
    );
  }
}
