import { createHash } from 'node:crypto';
import { AuthUser, type AuthPrincipal } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { DrivenClock } from '../support/driven-clock';
import type { Action } from './actions';
import { Instance, type Sent } from './instance';
import { Model, SECONDS, type ModelOptions, type Pair } from './model';

const PASSWORD = 'correct horse battery staple';
const TABLES = [
  'auth_refresh_tokens',
  'auth_sessions',
  'auth_events',
  'auth_login_failures',
  'auth_password_resets',
  'auth_user_locks',
  'auth_users',
];

/** The library and the model side by side: each action is done with both, and compared, and so is what is stored. */
export class World {
  private readonly clock = new DrivenClock();
  private readonly model: Model;
  private readonly sent: Sent[] = [];
  private readonly instances: Instance[] = [];
  private users: readonly [string, string] = ['', ''];
  /** Every access token that was ever given out, of each session. */
  private readonly accessTokens = new Map<string, string[]>();

  private constructor(
    private readonly dataSource: DataSource,
    private readonly options: ModelOptions,
  ) {
    this.model = new Model(options, this.clock.now());
  }

  static async create(dataSource: DataSource, options: ModelOptions): Promise<World> {
    const world = new World(dataSource, options);
    for (const table of TABLES) await dataSource.query(`DELETE FROM ${table}`);
    for (const index of [0, 1]) await world.restart(index);
    const make = async (username: string): Promise<string> =>
      String((await world.instances[0]!.auth.createUser({ username, password: PASSWORD })).id);
    world.users = [await make('alice'), await make('bob')];
    return world;
  }

  async step(action: Action): Promise<void> {
    await this.act(action);
    for (const instance of this.instances) await instance.flush();
    await this.compareStored();
    this.compareSignals();
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
  }

  private async act(action: Action): Promise<void> {
    const { model } = this;
    const instance = this.instances[action.instance]!;
    const { auth } = instance;
    const user = this.users[action.user];
    switch (action.kind) {
      case 'wait':
        this.clock.advance(action.ms);
        model.now = this.clock.now();
        return;
      case 'restart':
        return this.restart(action.instance);
      case 'disable':
      case 'enable':
        await this.dataSource.getRepository(AuthUser).update({ id: user }, { active: action.kind === 'enable' });
        if (action.kind === 'enable') model.inactive.delete(user);
        else model.inactive.add(user);
        return;
      case 'open':
        this.open(action, await outcome(auth.openSession(user)));
        return;
      case 'login':
        return this.login(action, await outcome(auth.login({ username: this.nameOf(action), password: PASSWORD })));
      case 'wrongPassword': {
        const refused = await outcome(auth.login({ username: this.nameOf(action), password: 'wrong' }));
        expect(refused).toBe('invalid_credentials');
        return model.loginFailed(user);
      }
      case 'list': {
        const listed = await auth.listSessions(user);
        const live = model.liveOf(user).map(({ id }) => id);
        expect(listed.map(({ id }) => id)).toEqual(live.reverse());
        return model.expire(user);
      }
      case 'prune': {
        const report = await instance.pruning.prune();
        expect(report.expiredSessions).toBe(model.prune());
        return;
      }
      case 'dryRun': {
        const over = model.sessions.filter((one) => one.state === 'active' && model.isOver(one)).length;
        expect((await instance.pruning.prune({ dryRun: true })).expiredSessions).toBe(over);
        return;
      }
      default:
        return this.actOnSession(action, instance);
    }
  }

  private async actOnSession(action: Extract<Action, { session: number }>, { auth }: Instance): Promise<void> {
    const { model } = this;
    const session = model.sessions[action.session % Math.max(1, model.sessions.length)];
    if (!session) return;
    switch (action.kind) {
      case 'refresh':
        return this.refresh(auth, session.pair.refreshToken);
      case 'replay': {
        const tokens = [...session.retired.map(({ token }) => token), session.pair.refreshToken];
        return this.refresh(auth, tokens[action.token % tokens.length]!);
      }
      case 'refreshTwice':
        if (this.options.rotateRefreshTokens) await this.refreshTwice(auth, session.pair.refreshToken);
        return;
      case 'authenticate': {
        const tokens = [session.pair.accessToken, ...(this.accessTokens.get(session.id) ?? [])];
        await this.authenticate(auth, tokens[action.token % tokens.length]!);
        return;
      }
      case 'revoke': {
        const user = this.users[action.user];
        const revoked = await outcome(auth.revokeSession(user, session.id).then(() => 'revoked'));
        expect(revoked).toBe(model.revoke(user, session.id));
        return;
      }
      default: {
        const principal = await this.authenticate(auth, session.pair.accessToken);
        if (!principal) return;
        if (action.kind === 'logout') {
          await auth.logout(principal);
          model.end(session, 'logged_out', 'logout', 'logout');
        } else if (action.kind === 'logoutAll') {
          const { keepCurrent } = action;
          expect(await auth.logoutAll(principal, { keepCurrent })).toBe(model.logoutAll(session, keepCurrent));
        } else {
          const change = { currentPassword: PASSWORD, newPassword: PASSWORD };
          const pair = await auth.changePassword(principal, change);
          model.passwordChanged(session, pair);
          this.remember(session, pair);
        }
      }
    }
  }

  /** Whether a session was opened. */
  private open(action: Action, opened: string | (Pair & { sessionId: string })): boolean {
    const user = this.users[action.user];
    const refusal = this.model.admit(user);
    if (typeof opened === 'string' || refusal) {
      expect(opened).toBe(refusal);
      return false;
    }
    const { sessionId, accessToken, refreshToken } = opened;
    this.model.opened(user, sessionId, { accessToken, refreshToken });
    this.remember({ id: sessionId }, opened);
    return true;
  }

  private login(action: Action, opened: string | (Pair & { sessionId: string })): void {
    const user = this.users[action.user];
    if (this.model.inactive.has(user)) {
      expect(opened).toBe('invalid_credentials');
      this.model.loginFailed(user);
    } else if (this.open(action, opened)) {
      this.model.clearFailures(user);
    }
  }

  private async refresh(auth: Instance['auth'], token: string): Promise<void> {
    this.refreshOutcome(token, await outcome(auth.refresh(token)));
  }

  private refreshOutcome(token: string, real: string | Pair): void {
    const expected = this.model.refresh(token);
    if (expected === 'refused') expect(real).toBe('invalid_refresh_token');
    else if (expected !== 'new') expect(real).toEqual(expected);
    else {
      expect(real).toMatchObject({ accessToken: expect.any(String), refreshToken: expect.any(String) });
      const pair = real as Pair;
      expect(pair.refreshToken === token).toBe(!this.options.rotateRefreshTokens);
      const session = this.model.sessions.find((one) => one.pair.refreshToken === token)!;
      this.model.refreshed(token, pair);
      this.remember(session, pair);
    }
  }

  /** Whichever comes first; the model does one after the other. */
  private async refreshTwice(auth: Instance['auth'], token: string): Promise<void> {
    const both = await Promise.all([outcome(auth.refresh(token)), outcome(auth.refresh(token))]);
    const [first, second] = typeof both[0] === 'string' ? [both[1], both[0]] : both;
    this.refreshOutcome(token, first);
    this.refreshOutcome(token, second);
  }

  private async authenticate(auth: Instance['auth'], token: string): Promise<AuthPrincipal | null> {
    const principal = await auth.authenticate(token);
    expect(principal?.session.id ?? null).toBe(this.model.authenticate(token)?.id ?? null);
    return principal;
  }

  private async restart(index: number): Promise<void> {
    await this.instances[index]?.stop();
    const { access, refresh, idle, absolute, activity } = SECONDS;
    this.instances[index] = await Instance.create(
      this.dataSource,
      this.clock,
      {
        ...this.options,
        accessTokenTtlSeconds: access,
        refreshTokenTtlSeconds: refresh,
        idleTimeoutSeconds: idle,
        absoluteTimeoutSeconds: absolute,
        activityIntervalSeconds: activity,
        pruneIntervalSeconds: false,
        // The model counts failures and knows no delays.
        failedLogins: { throttleFrom: false },
      },
      this.sent,
    );
  }

  private remember({ id }: { readonly id: string }, { accessToken }: Pair): void {
    this.accessTokens.set(id, [...(this.accessTokens.get(id) ?? []), accessToken]);
  }

  private nameOf({ user }: Action): string {
    return user === 0 ? 'alice' : 'bob';
  }

  /** At most one live token in a family, none revived, nothing that the model does not know of. */
  private async compareStored(): Promise<void> {
    const rows = await this.dataSource.query('SELECT * FROM auth_sessions');
    const stored = rows.map((row: Record<string, unknown>) => ({
      id: row['id'],
      state: row['state'],
      reason: row['end_reason'],
      access: row['access_digest'],
      refresh: row['refresh_digest'],
      generation: Number(row['generation']),
      lastActivity: Number(row['last_activity']),
      idleEnd: Number(row['idle_expires_at']),
      answerUntil: row['sealed_until'] === null ? null : Number(row['sealed_until']),
    }));
    const known = this.model.sessions.map((session) => ({
      id: session.id,
      state: session.state,
      reason: session.reason,
      access: digest(session.pair.accessToken),
      refresh: digest(session.pair.refreshToken),
      generation: session.generation,
      lastActivity: session.lastActivity,
      idleEnd: session.idleEnd,
      answerUntil: session.answerUntil,
    }));
    const byId = (a: { id: unknown }, b: { id: unknown }): number => (String(a.id) < String(b.id) ? -1 : 1);
    expect(stored.sort(byId)).toEqual(known.sort(byId));
    await this.compareTokens();
    const events = await this.dataSource.query(
      'SELECT user_id, event, COUNT(*) AS n FROM auth_events GROUP BY user_id, event',
    );
    const counted = events.map((row: Record<string, unknown>) => [
      `${String(row['user_id'])} ${String(row['event'])}`,
      Number(row['n']),
    ]);
    expect(new Map(counted)).toEqual(this.model.events);
  }

  /** Used tokens are kept until the absolute end of their family. */
  private async compareTokens(): Promise<void> {
    const rows = await this.dataSource.query('SELECT digest, state, generation FROM auth_refresh_tokens');
    const stored = new Map(
      rows.map((row: Record<string, unknown>) => [
        row['digest'],
        `${String(row['state'])} ${String(row['generation'])}`,
      ]),
    );
    for (const session of this.model.sessions) {
      for (const [generation, { token, state }] of session.retired.entries()) {
        const found = stored.get(digest(token));
        if (found !== undefined || session.absoluteEnd > this.model.prunedAt)
          expect(found).toBe(`${state} ${generation}`);
      }
    }
  }

  private compareSignals(): void {
    const told = this.sent.splice(0).map(({ name, payload }) => {
      if (name === 'user_logged_out') return `${name} ${payload.userId} ${payload.session.id} ${payload.reason}`;
      if (name === 'login_failed') return `${name} ${payload.userId ?? ''} ${payload.failureCount}`;
      if (name === 'brute_force_threshold_hit') return `${name} ${payload.failureCount}`;
      if (name === 'token_reuse_detected') return `${name} ${payload.userId} ${payload.sessionsEnded}`;
      return `${name} ${payload.userId}`;
    });
    expect(told.sort()).toEqual(this.model.signals.sort());
    this.model.signals = [];
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** What a call gave, or the code of its refusal. */
async function outcome<T>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'string') throw error;
    return code;
  }
}
