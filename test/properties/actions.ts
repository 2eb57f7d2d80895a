import * as fc from 'fast-check';
import type { AuthPrincipal } from 'nestjs-session-auth';
import { PASSWORD, type Environment } from './environment';
import { outcome } from './instance';
import { SECONDS, type InstanceOptions, type ModelOptions, type ModelSession } from './model';

/** An action of a user on one of two instances, with the properties of its kind. */
export interface Action {
  readonly kind: string;
  readonly instance: 0 | 1;
  readonly user: 0 | 1;
  readonly client?: number;
}

/** A kind of action. The weights of all kinds are relative to each other. */
interface Kind {
  readonly weight: number;
  readonly properties: object;
  readonly run: (environment: Environment, action: never) => unknown;
}

type Arbitraries<T> = { readonly [Key in keyof T]: fc.Arbitrary<T[Key]> };

/** With the property `client`, the action happens only if there is a client. */
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

/** Indexes of the clients, and of a client's pairs, modulo their number. */
const client = fc.nat({ max: 20 });
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
const network = fc.constantFrom(0, 0, 0, 1, 2, 3);

export const KINDS: Readonly<Record<string, Kind>> = {
  refresh: kind(54, { client, network }, (environment, action) =>
    environment.refresh(environment.latest, action.network),
  ),
  replayLast: kind(24, { client, network }, (environment, action) =>
    environment.refresh(environment.client.pairs.at(-2) ?? environment.latest, action.network),
  ),
  refreshAgain: kind(
    18,
    { client, network, between: fc.constantFrom('use', 'use', 'use', 'wait', 'wait', 'disable'), again: network },
    async (environment, action) => {
      const { latest } = environment;
      await environment.refresh(latest, action.network);
      if (action.between === 'use') await environment.authenticate(environment.latest.accessToken);
      const session = environment.model.find(environment.client.sessionId);
      if (action.between === 'disable' && session) await environment.setActive(session.user, false);
      await environment.refresh(latest, action.again);
    },
  ),
  refreshWith: kind(18, { client, token, network }, (environment, action) =>
    environment.refresh(environment.issued(action.token), action.network),
  ),
  // Refreshes extend the session beyond the time at which pruning was scheduled to visit it.
  outliveTimeout: kind(
    18,
    { client, isDisabled: fc.boolean(), isReused: fc.boolean() },
    async (environment, { isDisabled, isReused }) => {
      const session = environment.model.find(environment.client.sessionId);
      if (!session) return;
      environment.advanceTo(session.refreshEnd - 1);
      await environment.refresh(environment.latest, 0);
      environment.advanceTo(session.checkAt);
      if (isDisabled) await environment.setActive(session.user, false);
      if (isReused) await environment.refresh(environment.client.pairs[0]!, 0);
      else await environment.prune();
    },
  ),
  authenticate: kind(
    42,
    { client, token: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: token }) },
    (environment, action) => environment.authenticate(environment.issued(action.token).accessToken),
  ),
  waitUntil: kind(24, { client, deadline: fc.nat(), ms: fc.constantFrom(0, -1) }, (environment, action) => {
    const deadlines = environment.model.deadlinesOf(environment.client.sessionId);
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
  reauthenticate: within(12, {}, async ({ auth, model, client }, _, principal, session) => {
    const pair = await auth.reauthenticate(principal, PASSWORD);
    client.pairs.push(pair);
    model.reauthenticated(session, pair);
  }),
  open: kind(36, {}, async (environment) => {
    const { auth, model, user } = environment;
    environment.assertOpened(await outcome(auth.openSession(user)), model.admit(user));
  }),
  list: kind(4, {}, async ({ auth, model, user }) => {
    const listed = (await auth.listSessions(user)).map(({ id }) => id);
    const live = model.liveOf(user).map(({ id }) => id);
    expect(listed).toEqual(live.reverse());
    model.expire(user);
  }),
  prune: kind(12, { isDryRun: fc.boolean() }, (environment, { isDryRun }) => environment.prune(isDryRun)),
  disable: kind(4, {}, (environment) => environment.setActive(environment.user, false)),
  enable: kind(6, {}, (environment) => environment.setActive(environment.user, true)),
  disableUser: kind(2, {}, async ({ auth, model, user }) => {
    await auth.disableUser(user);
    model.disabled(user);
  }),
  enableUser: kind(4, {}, async ({ auth, model, user }) => {
    await auth.enableUser(user);
    model.enabled(user);
  }),
  restart: kind(6, { configuration }, (environment, changed) =>
    environment.restart(environment.index, { ...environment.model.instance, ...changed.configuration }),
  ),
  wait: kind(24, { ms }, (environment, action) => environment.advance(action.ms)),
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
