import * as fc from 'fast-check';
import { AuthError, type AuthPrincipal } from 'nestjs-session-auth';
import { randomBytes } from 'node:crypto';
import { FAMILY_SECRET_BYTES, formatRefreshToken, REFRESH_SECRET_BYTES } from '../../libs/auth/src/tokens/tokens';
import { ADDRESSES, CheckError, NO_PROOFS, PASSWORD, type Environment, type Opened } from './environment';
import { outcome } from './instance';
import { MAX_REPLAYS, SECONDS, type InstanceOptions, type ModelOptions, type ModelSession, type Pair } from './model';

/** An action of a user on one of two instances, with the properties of its kind. */
export interface Action {
  readonly kind: string;
  readonly instance: 0 | 1;
  readonly user: 0 | 1;
  readonly client?: number;
  readonly ticket?: number;
}

/** A kind of action. The weights of all kinds are relative to each other. */
interface Kind {
  readonly weight: number;
  readonly properties: object;
  readonly run: (environment: Environment, action: never) => unknown;
}

type Arbitraries<T> = { readonly [Key in keyof T]: fc.Arbitrary<T[Key]> };

/** With the property `client` or `ticket`, the action happens only if there is a client or a ticket. */
const kind = <T extends object>(
  weight: number,
  properties: Arbitraries<T>,
  run: (environment: Environment, action: T) => unknown,
): Kind => ({ weight, properties, run });

/** An action within the session of one of the clients, if its access token is valid. */
const within = <T extends object>(
  weight: number,
  properties: Arbitraries<T>,
  run: (environment: Environment, action: T, principal: AuthPrincipal, session: ModelSession) => unknown,
): Kind =>
  kind<T>(weight, { client, ...properties }, async (environment, action) => {
    const principal = await environment.authenticate(environment.latest.accessToken);
    if (principal) await run(environment, action, principal, environment.model.find(environment.client.sessionId)!);
  });

/** Indexes of the clients, of the tickets from the latest to the oldest, and of a client's pairs, modulo their number. */
const client = fc.nat({ max: 20 });
const ticket = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 20 }));
const token = fc.nat({ max: 20 });

const ROTATION: readonly Pick<InstanceOptions, 'rotateRefreshTokens' | 'refreshReuseGraceSeconds'>[] = [
  { rotateRefreshTokens: true, refreshReuseGraceSeconds: 0 },
  { rotateRefreshTokens: true, refreshReuseGraceSeconds: 10 },
  { rotateRefreshTokens: true, refreshReuseGraceSeconds: 10 },
  { rotateRefreshTokens: false, refreshReuseGraceSeconds: 0 },
];
const TIMEOUTS = { idleTimeoutSeconds: 900, absoluteTimeoutSeconds: 3600 };

/** The options that a restart changes. Usually none. */
const configuration: fc.Arbitrary<Partial<InstanceOptions>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  fc.constantFrom(...ROTATION),
  { weight: 2, arbitrary: fc.constantFrom(4, 20).map((seconds) => ({ refreshReuseGraceSeconds: seconds })) },
  fc.constantFrom(TIMEOUTS, { idleTimeoutSeconds: 300, absoluteTimeoutSeconds: 1200 }),
);

const ms = fc.oneof(
  fc.constantFrom(1, 1_000, 3_999, 4_000, 6_000, 9_999, 10_000, 60_000, 300_000, SECONDS.retention * 1000),
  fc.integer({ min: 1, max: 1_000_000 }),
  // A negative wait sets the clock back.
  fc.integer({ min: -30_000, max: -1 }),
);
const exactOrBefore = fc.constantFrom(0, -1);
const method = fc.constantFrom('otp', 'otp', 'hwk', 'pwd');
const methods = fc.constantFrom(['pwd'], ['hwk'], ['hwk', 'otp']);
const network = fc.constantFrom(0, 0, 0, 1, 2, 3);

const TICKET_KINDS = {
  createTicket: kind(24, { methods, count: fc.constantFrom(1, 1, 1, 1, 20) }, async (environment, action) => {
    const { auth, model, tickets, user } = environment;
    for (let i = 0; i < action.count; i++) {
      const data: object | null = action.methods.length > 1 ? { number: tickets.length } : null;
      const given = { methods: action.methods, ...(data ? { data } : {}) };
      const ticket = await outcome(auth.createLoginTicket(user, given));
      if (model.inactive.has(user)) expect(ticket).toBe('unknown_user');
      else environment.ticketIssued(ticket, action.methods, data);
    }
  }),
  verifyCredentials: kind(6, {}, async (environment) => {
    const { auth, model, user, credentials } = environment;
    const verified = await outcome(auth.verifyCredentials(credentials));
    if (model.inactive.has(user)) {
      expect(verified).toBe('invalid_credentials');
      return model.loginFailed(user, credentials.username, 'pwd');
    }
    const { username } = credentials;
    expect(verified).toEqual({ user: { id: user, username }, ticket: expect.any(String) });
    environment.firstFactor((verified as { ticket: string }).ticket);
  }),
  enrol: kind(12, { isRequired: fc.constantFrom(true, true, false) }, ({ model, user }, { isRequired }) =>
    isRequired ? model.enrolled.add(user) : model.enrolled.delete(user),
  ),
  openWithTicket: kind(20, { ticket }, async (environment) =>
    environment.assertOpenedWith(await outcome(environment.auth.openSession({ ticket: environment.ticket }))),
  ),
  openTwice: kind(10, { ticket }, async (environment) => {
    const both = await twice(() => outcome<Opened>(environment.auth.openSession({ ticket: environment.ticket })));
    for (const one of both) environment.assertOpenedWith(one);
  }),
  attempt: kind(
    30,
    {
      ticket,
      attempts: fc.array(
        fc.record({
          method,
          result: fc.constantFrom('right' as const, 'right', 'wrong', 'wrong', 'throws'),
          times: fc.constantFrom(1, 1, 1, 1, 4, 5),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    },
    async ({ auth, model, ticket }, { attempts }) => {
      for (const { method, result } of attempts.flatMap((one) => Array<typeof one>(one.times).fill(one))) {
        const found = model.tickets.find(ticket);
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
        const expected = model.attempted(ticket, method, result, username);
        if (expected === null) expect([attempted, username]).toEqual(['invalid_login_ticket', '']);
        else expect(attempted).toBe(result === 'throws' ? 'thrown' : expected);
      }
    },
  ),
  outliveTicket: kind(6, { ticket, ms: exactOrBefore }, (environment, action) => {
    const found = environment.model.tickets.find(environment.ticket);
    if (found) environment.advanceTo(found.expiresAt + action.ms);
  }),
};

const REFRESH_KINDS = {
  refresh: kind(54, { client, network }, (environment, action) =>
    environment.refresh(environment.latest, action.network),
  ),
  replayLast: kind(24, { client, network }, (environment, action) =>
    environment.refresh(environment.client.pairs.at(-2) ?? environment.latest, action.network),
  ),
  refreshAgain: kind(
    18,
    { client, network, accessTokenUsed: fc.boolean(), again: network },
    async (environment, action) => {
      const { latest } = environment;
      await environment.refresh(latest, action.network);
      if (action.accessTokenUsed) await environment.authenticate(environment.latest.accessToken);
      await environment.refresh(latest, action.again);
    },
  ),
  refreshTwice: kind(6, { client, network }, async (environment, action) => {
    if (!environment.model.instance.rotateRefreshTokens) return;
    const { refreshToken } = environment.latest;
    const ipAddress = ADDRESSES[action.network];
    const both = await twice(() => outcome(environment.auth.refresh(refreshToken, { ipAddress })));
    for (const one of both) environment.assertRefreshed(refreshToken, ipAddress, one);
  }),
  refreshWith: kind(18, { client, token, network }, (environment, action) =>
    environment.refresh(environment.issued(action.token), action.network),
  ),
  forgeToken: kind(4, { client }, async ({ auth, model, client: { sessionId } }) => {
    const familySecret = randomBytes(FAMILY_SECRET_BYTES);
    const claims = { sessionId, familySecret, generation: model.find(sessionId)?.generation ?? 0 };
    const forged = formatRefreshToken(claims, randomBytes(REFRESH_SECRET_BYTES));
    expect(await outcome(auth.refresh(forged))).toBe('invalid_refresh_token');
  }),
  exhaustReplays: kind(8, { client }, async ({ model, stored, client: { sessionId } }) => {
    const replay = model.find(sessionId)?.replay;
    if (!replay) return;
    replay.count = MAX_REPLAYS - 1;
    await stored.update(sessionId, { replay_count: replay.count });
  }),
  corruptToken: kind(6, { client, token, position: fc.nat(), by: fc.nat() }, async (environment, action) => {
    const { auth } = environment;
    const { accessToken, refreshToken } = environment.issued(action.token);
    expect(await outcome(auth.refresh(corrupted(refreshToken, action)))).toBe('invalid_refresh_token');
    expect(await auth.authenticate(corrupted(accessToken, action))).toBeNull();
  }),
  restoreRow: kind(12, { client, copy: fc.nat({ max: 5 }) }, (environment, { copy }) =>
    environment.stored.restore(environment.client.sessionId, copy),
  ),
  // Refreshes extend the session beyond the time at which pruning was scheduled to visit it.
  outliveTimeout: kind(
    18,
    { client, isDisabled: fc.boolean(), then: fc.constantFrom('prune', 'dryRun', 'reuse') },
    async (environment, { isDisabled, then }) => {
      const session = environment.model.find(environment.client.sessionId);
      if (!session) return;
      environment.advanceTo(session.refreshEnd - 1);
      await environment.refresh(environment.latest, 0);
      environment.advanceTo(session.checkAt);
      if (isDisabled) await environment.setActive(session.user, false);
      if (then === 'reuse') await environment.refresh(environment.client.pairs[0]!, 0);
      else await environment.prune(then === 'dryRun');
    },
  ),
};

const SESSION_KINDS = {
  authenticate: kind(
    42,
    { client, token: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: token }) },
    (environment, action) => environment.authenticate(environment.issued(action.token).accessToken),
  ),
  waitUntil: kind(24, { client, deadline: fc.nat(), ms: exactOrBefore }, (environment, action) => {
    const {
      model,
      client: { sessionId },
    } = environment;
    const deadlines = model.deadlinesOf(sessionId).filter((deadline) => deadline > model.now);
    if (deadlines.length > 0) environment.advanceTo(deadlines[action.deadline % deadlines.length]! + action.ms);
  }),
  revoke: kind(4, { client }, async ({ auth, model, user, client: { sessionId } }) => {
    const revoked = await outcome(auth.revokeSession(user, sessionId).then(() => 'revoked'));
    expect(revoked).toBe(model.revoke(user, sessionId));
  }),
  logout: within(4, {}, async ({ auth, model }, _, principal, session) => {
    await auth.logout(principal);
    model.end(session, 'logged_out', 'logout', 'logout');
  }),
  logoutAll: within(6, { keepCurrent: fc.boolean() }, async ({ auth, model }, { keepCurrent }, principal, session) =>
    expect(await auth.logoutAll(principal, { keepCurrent })).toBe(model.logoutAll(session, keepCurrent)),
  ),
  changePassword: within(4, {}, async ({ auth, model, client }, _, principal, session) => {
    const pair = await auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: PASSWORD });
    client.pairs.push(pair);
    model.passwordChanged(session, pair);
  }),
  reauthenticate: within(
    12,
    { variant: fc.constantFrom('right', 'wrong', 'late') },
    async (environment, { variant }, principal, session) => {
      const { auth, model } = environment;
      const confirm = (password: string): Promise<Pair | string> => outcome(auth.reauthenticate(principal, password));
      if (variant === 'wrong') {
        expect(await confirm('wrong')).toBe('invalid_field');
        return model.confirmationFailed(session, environment.usernameOf(session));
      }
      if (variant === 'late') {
        const { accessToken } = session.pair;
        await environment.refresh(environment.latest, 0);
        if (session.pair.accessToken === accessToken) return;
        expect(await confirm(PASSWORD)).toBe('access_token_invalid');
        return model.succeeded(session, 'pwd');
      }
      const pair = environment.assertPair(await confirm(PASSWORD));
      environment.client.pairs.push(pair);
      model.succeeded(session, 'pwd');
      model.reauthenticated(session, pair, ['pwd']);
    },
  ),
  confirmIdentity: within(6, { methods }, async ({ auth, model, client }, { methods }, principal, session) => {
    const pair = await auth.confirmIdentity(principal, { methods });
    client.pairs.push(pair);
    model.reauthenticated(session, pair, methods);
  }),
  attemptInSession: within(
    12,
    { method, results: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) },
    async (environment, { method, results }, principal, session) => {
      const { auth, model } = environment;
      for (const isRight of results) {
        expect(await auth.attempt({ principal, method }, {}, () => isRight)).toBe(isRight);
        if (isRight) model.proved(session, method);
        else model.confirmationFailed(session, environment.usernameOf(session), method);
      }
    },
  ),
};

const OTHER_KINDS = {
  open: kind(36, {}, async (environment) => {
    const { auth, model, user } = environment;
    environment.assertOpened(user, await outcome(auth.openSession(user)), model.admit(user), NO_PROOFS);
  }),
  login: kind(4, {}, async (environment) => {
    const { auth, model, user, credentials } = environment;
    if (model.enrolled.has(user) && !model.inactive.has(user)) {
      const refused = await auth.login(credentials).catch(loginTicketOf);
      expect(refused).toEqual(expect.any(String));
      return environment.firstFactor(refused as string);
    }
    const opened = await outcome(auth.login(credentials));
    if (model.inactive.has(user)) {
      expect(opened).toBe('invalid_credentials');
      return model.loginFailed(user, credentials.username, 'pwd');
    }
    environment.assertOpened(user, opened, model.admit(user), { methods: { pwd: model.now }, data: null });
    // The password was right, even if the session limit refuses the login.
    model.clearFailures(user, 'pwd');
  }),
  wrongPassword: kind(4, {}, async ({ auth, model, user, credentials }) => {
    expect(await outcome(auth.login({ ...credentials, password: 'wrong' }))).toBe('invalid_credentials');
    model.loginFailed(user, credentials.username, 'pwd');
  }),
  list: kind(4, {}, async ({ auth, model, user }) => {
    const listed = (await auth.listSessions(user)).map(({ id }) => id);
    const live = model.liveOf(user).map(({ id }) => id);
    expect(listed).toEqual(live.reverse());
    model.expire(user);
  }),
  prune: kind(8, {}, (environment) => environment.prune(false)),
  dryRun: kind(4, {}, (environment) => environment.prune(true)),
  disable: kind(4, {}, (environment) => environment.setActive(environment.user, false)),
  enable: kind(6, {}, (environment) => environment.setActive(environment.user, true)),
  forget: kind(2, {}, async ({ auth, model, stored, user }) => {
    await auth.forgetUser(user);
    stored.forgetEventsOf(user);
    model.forget(user);
  }),
  disableUser: kind(2, {}, async ({ auth, model, user }) => {
    await auth.disableUser(user);
    model.disabled(user);
  }),
  enableUser: kind(4, {}, async ({ auth, model, user }) => {
    await auth.enableUser(user);
    model.enabled(user);
  }),
  resetPassword: kind(3, {}, async ({ auth, model, user }) => {
    await auth.resetPassword(user, PASSWORD);
    model.passwordReset(user);
  }),
  resetFailedLogins: kind(3, {}, async ({ auth, model, user, credentials }) => {
    await auth.resetFailedLogins(credentials.username);
    model.clearAllFailures(user);
  }),
  restart: kind(6, { configuration }, (environment, changed) =>
    environment.restart(environment.index, { ...environment.model.instance, ...changed.configuration }),
  ),
  wait: kind(24, { ms }, (environment, action) => environment.advance(action.ms)),
};

export const KINDS: Readonly<Record<string, Kind>> = {
  ...TICKET_KINDS,
  ...REFRESH_KINDS,
  ...SESSION_KINDS,
  ...OTHER_KINDS,
};

const binary = fc.constantFrom(0 as const, 1 as const);

export const action: fc.Arbitrary<Action> = fc.oneof(
  ...Object.entries(KINDS).map(([name, { weight, properties }]) => ({
    weight,
    arbitrary: fc.record({ ...properties, kind: fc.constant(name), instance: binary, user: binary }),
  })),
);

export interface Configuration {
  readonly common: ModelOptions;
  /** The options of both instances until they are restarted. */
  readonly instance: InstanceOptions;
}

export const configurations: fc.Arbitrary<Configuration> = fc.record({
  common: fc.record({
    sessionPolicy: fc.constantFrom('multi' as const, 'multi' as const, 'single' as const, 'max_count' as const),
    maxSessions: fc.integer({ min: 2, max: 3 }),
    onSessionLimit: fc.constantFrom('revoke_oldest' as const, 'reject' as const),
    trackIps: fc.boolean(),
  }),
  instance: fc.constantFrom(...ROTATION).map((rotation) => ({ ...rotation, ...TIMEOUTS })),
});

/** Runs two parallel calls, of which either may succeed. Returns the successful one first, as the model runs them. */
async function twice<T>(call: () => Promise<T | string>): Promise<(T | string)[]> {
  const both = await Promise.all([call(), call()]);
  return typeof both[0] === 'string' ? both.reverse() : both;
}

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
