import {
  AuthError,
  AuthUser,
  type AuthPrincipal,
  type AuthService,
  type Credentials,
  type PruningService,
} from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { networkOf } from '../../libs/auth/src/history/event-log';
import { FAMILY_SECRET_BYTES, formatRefreshToken, REFRESH_SECRET_BYTES } from '../../libs/auth/src/tokens/tokens';
import { DrivenClock } from '../support/driven-clock';
import { secondFactorIf } from '../support/second-factor';
import {
  ADDRESSES,
  type Action,
  type Attempt,
  type Configuration,
  type SessionAction,
  type TicketAction,
} from './actions';
import { Instance, outcome, type Sent } from './instance';
import { Model, MAX_REPLAYS, SECONDS, type InstanceOptions, type ModelProofs, type Pair, type Refusal } from './model';
import { assertSameSignals, StoredRows } from './stored-rows';

const PASSWORD = 'correct horse battery staple';
const USERNAMES = ['alice', 'bob'] as const;

/** A session that the library opened, or its refusal. */
type Opened = string | (Pair & { readonly sessionId: string });

type User = Credentials & { readonly id: string };

type ActionOfPrincipal = Extract<
  SessionAction,
  {
    kind: 'logout' | 'logoutAll' | 'changePassword' | 'reauthenticate' | 'confirmIdentity' | 'attemptInSession';
  }
>;

class CheckError extends Error {}

/** A client with a session, and every pair that the client has received. The latest pair is last. */
interface Client {
  readonly sessionId: string;
  readonly pairs: Pair[];
}

/** Runs each action on the library and on the model, and compares what they return, store and emit. */
export class Environment {
  private readonly clock = new DrivenClock();
  private readonly model: Model;
  private readonly stored: StoredRows;
  private readonly sent: Sent[] = [];
  private readonly instances: Instance[] = [];
  private readonly options: InstanceOptions[] = [];
  private readonly clients: Client[] = [];
  private readonly users: string[] = [];
  /** The login tickets that were issued. */
  private readonly tickets: string[] = [];

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
    const { auth } = environment.instances[0]!;
    for (const username of USERNAMES) {
      environment.users.push(String((await auth.createUser({ username, password: PASSWORD })).id));
    }
    return environment;
  }

  async step(action: Action): Promise<void> {
    this.model.instance = this.options[action.instance]!;
    await this.act(action, this.instances[action.instance]!);
    for (const instance of this.instances) await instance.flush();
    await this.stored.assertSame();
    // This signal is emitted at most once a minute per process: see test/sessions/refresh.spec.ts.
    const sent = this.sent.splice(0).filter(({ name }) => name !== 'lost_commits_suspected');
    assertSameSignals(sent, this.model.signals.splice(0));
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
  }

  private async act(action: Action, instance: Instance): Promise<void> {
    const { model } = this;
    const { auth, pruning } = instance;
    const user = this.users[action.user]!;
    const credentials = { username: USERNAMES[action.user], password: PASSWORD };
    switch (action.kind) {
      case 'wait':
        return this.advance(action.ms);
      case 'restart':
        return this.restart(action.instance, { ...model.instance, ...action.configuration });
      case 'disable':
      case 'enable':
        return this.setActive(user, action.kind === 'enable');
      case 'forget':
        await auth.forgetUser(user);
        this.stored.forgetEventsOf(user);
        return model.forget(user);
      case 'open': {
        const opened = await outcome(auth.openSession(user));
        return this.assertOpened(user, opened, model.admit(user), NO_PROOFS);
      }
      case 'login':
        return this.login(auth, user, credentials);
      case 'wrongPassword':
        expect(await outcome(auth.login({ ...credentials, password: 'wrong' }))).toBe('invalid_credentials');
        return model.loginFailed(user, credentials.username, 'pwd');
      case 'list': {
        const listed = (await auth.listSessions(user)).map(({ id }) => id);
        const live = model.liveOf(user).map(({ id }) => id);
        expect(listed).toEqual(live.reverse());
        return model.expire(user);
      }
      case 'resetPassword':
        await auth.resetPassword(user, PASSWORD);
        return model.passwordReset(user);
      case 'resetFailedLogins':
        await auth.resetFailedLogins(credentials.username);
        return model.clearAllFailures(user);
      case 'disableUser':
        await auth.disableUser(user);
        return model.disabled(user);
      case 'enableUser':
        await auth.enableUser(user);
        return model.enabled(user);
      case 'prune':
      case 'dryRun':
        return this.prune(pruning, action.kind === 'dryRun');
      default: {
        if (!('client' in action)) return this.actOnTickets(action, auth, { id: user, ...credentials });
        const client = this.clients[action.client % Math.max(1, this.clients.length)];
        if (client) await this.actOnSession(action, instance, client);
      }
    }
  }

  private async actOnTickets(action: TicketAction, auth: AuthService, { id, username, password }: User): Promise<void> {
    const { model } = this;
    switch (action.kind) {
      case 'enrol':
        if (action.isRequired) model.enrolled.add(id);
        else model.enrolled.delete(id);
        return;
      case 'createTicket':
        for (let i = 0; i < action.count; i++) await this.createTicket(auth, id, action.methods);
        return;
      case 'verifyCredentials': {
        const verified = await outcome(auth.verifyCredentials({ username, password }));
        if (model.inactive.has(id)) {
          expect(verified).toBe('invalid_credentials');
          return model.loginFailed(id, username, 'pwd');
        }
        expect(verified).toEqual({ user: { id, username }, ticket: expect.any(String) });
        return this.firstFactor(id, (verified as { ticket: string }).ticket);
      }
      default: {
        const text = this.tickets.at(-1 - (action.ticket % Math.max(1, this.tickets.length)));
        if (text !== undefined) await this.actOnTicket(text, action, auth);
      }
    }
  }

  /** Records a correct password of a user who needs a second factor. */
  private firstFactor(user: string, ticket: string): void {
    this.tickets.push(ticket);
    this.model.clearFailures(user, 'pwd');
    this.model.ticketIssued(user, ticket, ['pwd'], null);
  }

  private async actOnTicket(
    text: string,
    action: Extract<TicketAction, { readonly ticket: number }>,
    auth: AuthService,
  ): Promise<void> {
    switch (action.kind) {
      case 'outliveTicket': {
        const ticket = this.model.tickets.find(text);
        if (ticket) this.advanceTo(ticket.expiresAt + action.ms);
        return;
      }
      case 'openWithTicket':
        return this.assertOpenedWith(text, await outcome(auth.openSession({ ticket: text })));
      case 'openTwice': {
        const both: Opened[] = await Promise.all([1, 2].map(() => outcome(auth.openSession({ ticket: text }))));
        // Either request may succeed. The model runs the successful request first.
        if (typeof both[0] === 'string') both.reverse();
        for (const one of both) this.assertOpenedWith(text, one);
        return;
      }
      case 'attempt':
        for (const attempt of action.attempts) {
          for (let i = 0; i < attempt.times; i++) await this.attempt(text, attempt, auth);
        }
    }
  }

  private async createTicket(auth: AuthService, user: string, methods: readonly string[]): Promise<void> {
    const data: object | null = methods.length > 1 ? { number: this.tickets.length } : null;
    const ticket = await outcome(auth.createLoginTicket(user, { methods, ...(data ? { data } : {}) }));
    if (this.model.inactive.has(user)) {
      expect(ticket).toBe('unknown_user');
      return;
    }
    this.tickets.push(ticket);
    this.model.ticketIssued(user, ticket, methods, data);
  }

  private assertOpenedWith(text: string, opened: Opened): void {
    const ticket = this.model.tickets.find(text);
    const refusal = this.model.admitTicket(text);
    if (!ticket || refusal) {
      expect(opened).toBe(refusal);
      return;
    }
    this.model.tickets.remove(ticket);
    this.assertOpened(ticket.user, opened, null, ticket);
  }

  private async attempt(ticket: string, { method, result }: Attempt, auth: AuthService): Promise<void> {
    const found = this.model.tickets.find(ticket);
    let username = '';
    const check = (user: { readonly id: unknown; readonly username: string }): boolean => {
      expect(user.id).toBe(found?.user);
      ({ username } = user);
      if (result === 'throws') throw new CheckError();
      return result === 'right';
    };
    const attempted = await outcome(auth.attempt({ ticket, method }, {}, check)).catch((error: unknown) => {
      if (error instanceof CheckError) return 'thrown';
      throw error;
    });
    const expected = this.model.attempted(ticket, method, result, username);
    if (expected === null) expect([attempted, username]).toEqual(['invalid_login_ticket', '']);
    else expect(attempted).toBe(result === 'throws' ? 'thrown' : expected);
  }

  private async actOnSession(action: SessionAction, { auth, pruning }: Instance, client: Client): Promise<void> {
    const { model } = this;
    const { sessionId } = client;
    const latest = client.pairs.at(-1)!;
    const issued = (token: number): Pair => client.pairs.at(-1 - (token % client.pairs.length))!;
    switch (action.kind) {
      case 'refresh':
        return this.refresh(auth, client, latest.refreshToken, action.network);
      case 'refreshWith':
        return this.refresh(auth, client, issued(action.token).refreshToken, action.network);
      case 'replayLast':
        return this.refresh(auth, client, (client.pairs.at(-2) ?? latest).refreshToken, action.network);
      case 'refreshAgain':
        await this.refresh(auth, client, latest.refreshToken, action.network);
        if (action.accessTokenUsed) await this.authenticate(auth, client.pairs.at(-1)!.accessToken);
        return this.refresh(auth, client, latest.refreshToken, action.again);
      case 'refreshTwice':
        return this.refreshTwice(auth, client, latest.refreshToken, action.network);
      case 'authenticate':
        await this.authenticate(auth, issued(action.token).accessToken);
        return;
      case 'corruptToken': {
        const { accessToken, refreshToken } = issued(action.token);
        expect(await outcome(auth.refresh(corrupted(refreshToken, action)))).toBe('invalid_refresh_token');
        expect(await auth.authenticate(corrupted(accessToken, action))).toBeNull();
        return;
      }
      case 'forgeToken': {
        const familySecret = randomBytes(FAMILY_SECRET_BYTES);
        const claims = { sessionId, familySecret, generation: model.find(sessionId)?.generation ?? 0 };
        const forged = formatRefreshToken(claims, randomBytes(REFRESH_SECRET_BYTES));
        expect(await outcome(auth.refresh(forged))).toBe('invalid_refresh_token');
        return;
      }
      case 'waitUntil': {
        const deadlines = model.deadlinesOf(sessionId).filter((deadline) => deadline > model.now);
        if (deadlines.length > 0) this.advanceTo(deadlines[action.deadline % deadlines.length]! + action.ms);
        return;
      }
      // Refreshes extend the session beyond the time at which pruning was scheduled to visit it.
      case 'outliveTimeout': {
        const session = model.find(sessionId);
        if (!session) return;
        this.advanceTo(session.refreshEnd - 1);
        await this.refresh(auth, client, latest.refreshToken, 0);
        this.advanceTo(session.checkAt);
        if (action.isDisabled) await this.setActive(session.user, false);
        if (action.then === 'reuse') return this.refresh(auth, client, client.pairs[0]!.refreshToken, 0);
        return this.prune(pruning, action.then === 'dryRun');
      }
      case 'restoreRow':
        return this.stored.restore(sessionId, action.copy);
      case 'exhaustReplays': {
        const replay = model.find(sessionId)?.replay;
        if (!replay) return;
        replay.count = MAX_REPLAYS - 1;
        await this.stored.update(sessionId, { replay_count: replay.count });
        return;
      }
      case 'revoke': {
        const user = this.users[action.user]!;
        const revoked = await outcome(auth.revokeSession(user, sessionId).then(() => 'revoked'));
        expect(revoked).toBe(model.revoke(user, sessionId));
        return;
      }
      default: {
        const principal = await this.authenticate(auth, latest.accessToken);
        if (principal) await this.actAs(principal, action, auth, client);
      }
    }
  }

  private async actAs(
    principal: AuthPrincipal,
    action: ActionOfPrincipal,
    auth: AuthService,
    client: Client,
  ): Promise<void> {
    const { model } = this;
    const session = model.find(client.sessionId)!;
    switch (action.kind) {
      case 'logout':
        await auth.logout(principal);
        return model.end(session, 'logged_out', 'logout', 'logout');
      case 'logoutAll': {
        const { keepCurrent } = action;
        expect(await auth.logoutAll(principal, { keepCurrent })).toBe(model.logoutAll(session, keepCurrent));
        return;
      }
      case 'changePassword': {
        const pair = await auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD });
        client.pairs.push(pair);
        return model.passwordChanged(session, pair);
      }
      case 'reauthenticate':
        return this.reauthenticate(principal, action.variant, auth, client);
      case 'confirmIdentity': {
        const { methods } = action;
        const pair = await auth.confirmIdentity(principal, { methods });
        client.pairs.push(pair);
        return model.reauthenticated(session, pair, methods);
      }
      case 'attemptInSession': {
        const { method } = action;
        for (const isRight of action.results) {
          expect(await auth.attempt({ principal, method }, {}, () => isRight)).toBe(isRight);
          if (isRight) model.proved(session, method);
          else model.confirmationFailed(session, this.usernameOf(session), method);
        }
        return;
      }
    }
  }

  private async reauthenticate(
    principal: AuthPrincipal,
    variant: 'right' | 'wrong' | 'late',
    auth: AuthService,
    client: Client,
  ): Promise<void> {
    const session = this.model.find(client.sessionId)!;
    const confirm = (password: string): Promise<Pair | string> => outcome(auth.reauthenticate(principal, password));
    if (variant === 'wrong') {
      expect(await confirm('wrong')).toBe('invalid_field');
      this.model.confirmationFailed(session, this.usernameOf(session));
      return;
    }
    if (variant === 'late') {
      const { accessToken } = session.pair;
      await this.refresh(auth, client, client.pairs.at(-1)!.refreshToken, 0);
      if (session.pair.accessToken === accessToken) return;
      expect(await confirm(PASSWORD)).toBe('access_token_invalid');
      return this.model.succeeded(session, 'pwd');
    }
    const pair = await confirm(PASSWORD);
    expect(pair).toEqual(ANY_PAIR);
    client.pairs.push(pair as Pair);
    this.model.succeeded(session, 'pwd');
    this.model.reauthenticated(session, pair as Pair, ['pwd']);
  }

  private usernameOf({ user }: { readonly user: string }): string {
    return USERNAMES[this.users.indexOf(user)]!;
  }

  private async setActive(user: string, active: boolean): Promise<void> {
    await this.dataSource.getRepository(AuthUser).update({ id: user }, { active });
    if (active) this.model.inactive.delete(user);
    else this.model.inactive.add(user);
  }

  private async prune(pruning: PruningService, dryRun: boolean): Promise<void> {
    expect(await pruning.prune({ dryRun })).toMatchObject(this.model.prune({ dryRun }));
    if (!dryRun) this.stored.forgetEventsBefore(this.model.now - SECONDS.retention * 1000);
  }

  private advanceTo(instant: number): void {
    this.advance(Math.max(0, instant - this.model.now));
  }

  private advance(ms: number): void {
    this.clock.advance(ms);
    this.model.now = this.clock.now();
  }

  private assertOpened(user: string, opened: Opened, refusal: Refusal | null, proofs: ModelProofs): void {
    if (typeof opened === 'string' || refusal) {
      expect(opened).toBe(refusal);
      return;
    }
    const { sessionId, accessToken, refreshToken } = opened;
    const pair = { accessToken, refreshToken };
    this.model.opened(user, sessionId, pair, proofs);
    this.clients.push({ sessionId, pairs: [pair] });
  }

  private async login(auth: AuthService, user: string, credentials: Credentials): Promise<void> {
    const { model } = this;
    if (model.inactive.has(user)) {
      expect(await outcome(auth.login(credentials))).toBe('invalid_credentials');
      return model.loginFailed(user, credentials.username, 'pwd');
    }
    if (model.enrolled.has(user)) {
      const refused = await auth.login(credentials).catch((error: unknown) => loginTicketOf(error));
      expect(refused).toEqual(expect.any(String));
      return this.firstFactor(user, refused as string);
    }
    const opened = await outcome(auth.login(credentials));
    this.assertOpened(user, opened, model.admit(user), { methods: { pwd: model.now }, data: null });
    // The password was right, even if the session limit refuses the login.
    model.clearFailures(user, 'pwd');
  }

  private async refresh(auth: AuthService, client: Client, token: string, network: number): Promise<void> {
    const ipAddress = ADDRESSES[network]!;
    this.assertRefreshed(client, token, ipAddress, await outcome(auth.refresh(token, { ipAddress })));
  }

  /** Runs two parallel refreshes, which may complete in either order. The model runs them in that order. */
  private async refreshTwice(auth: AuthService, client: Client, token: string, network: number): Promise<void> {
    if (!this.model.instance.rotateRefreshTokens) return;
    const ipAddress = ADDRESSES[network]!;
    const both = await Promise.all([1, 2].map(() => outcome(auth.refresh(token, { ipAddress }))));
    if (typeof both[0] === 'string') both.reverse();
    for (const one of both) this.assertRefreshed(client, token, ipAddress, one);
  }

  private assertRefreshed(client: Client, token: string, ipAddress: string, actual: string | Pair): void {
    const network = networkOf(ipAddress);
    const expected = this.model.refresh(token, network);
    if (expected === 'refused') expect(actual).toBe('invalid_refresh_token');
    else if (expected !== 'new') expect(actual).toEqual(expected);
    else {
      expect(actual).toEqual(ANY_PAIR);
      const pair = actual as Pair;
      expect(pair.refreshToken === token).toBe(!this.model.instance.rotateRefreshTokens);
      this.model.refreshed(token, network, pair);
      client.pairs.push(pair);
    }
  }

  private async authenticate(auth: AuthService, token: string): Promise<AuthPrincipal | null> {
    const principal = await auth.authenticate(token);
    expect(principal?.sessionId ?? null).toBe(this.model.authenticate(token)?.id ?? null);
    // Compare before anything else changes the session.
    for (const instance of this.instances) await instance.flush();
    return principal;
  }

  private async restart(index: number, changed: InstanceOptions): Promise<void> {
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

const NO_PROOFS: ModelProofs = { methods: {}, data: null };
const ANY_PAIR: unknown = {
  accessToken: expect.any(String),
  refreshToken: expect.any(String),
  accessTokenExpiresAt: expect.any(Date),
  refreshTokenExpiresAt: expect.any(Date),
  persistent: true,
};
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Returns the token with another character at one position. */
function corrupted(token: string, { position, by }: { readonly position: number; readonly by: number }): string {
  const at = position % token.length;
  const others = ALPHABET.replace(token[at]!, '');
  return token.slice(0, at) + others[by % others.length] + token.slice(at + 1);
}

/** Returns the ticket of a login that needs a second factor. */
function loginTicketOf(error: unknown): string {
  if (error instanceof AuthError && error.loginTicket) return error.loginTicket;
  throw error;
}
