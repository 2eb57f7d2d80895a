import * as fc from 'fast-check';
import { SECONDS, type InstanceOptions, type ModelOptions } from './model';

/** An action of a user on one of two instances. */
interface Base {
  readonly instance: 0 | 1;
  readonly user: 0 | 1;
}

/** A union with one member for each kind, so that the kind tells the members apart. */
type Of<K, Properties> = K extends string ? Base & { readonly kind: K } & Properties : never;
type Values<A> = { readonly [Key in keyof A]: A[Key] extends fc.Arbitrary<infer T> ? T : never };

/** Actions that are as frequent as `weight`, of one of the kinds. */
function act<K extends string, A extends Record<string, fc.Arbitrary<unknown>> = Record<never, never>>(
  weight: number,
  kinds: readonly K[],
  properties?: A,
): { weight: number; arbitrary: fc.Arbitrary<Of<K, Values<A>>> } {
  const binary = fc.constantFrom(0, 1);
  const arbitrary = fc.record({ instance: binary, user: binary, kind: fc.constantFrom(...kinds), ...properties });
  return { weight, arbitrary: arbitrary as unknown as fc.Arbitrary<Of<K, Values<A>>> };
}

type ActionOf<Weighted> = Weighted extends { arbitrary: fc.Arbitrary<infer A> } ? A : never;

/** Client addresses. The last two belong to one network. */
export const ADDRESSES = ['192.0.2.1', '198.51.100.7', '2001:db8::1', '2001:db8::2'] as const;

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
  { weight: 1, arbitrary: fc.constantFrom(...ROTATION) },
  { weight: 2, arbitrary: fc.constantFrom(4, 20).map((seconds) => ({ refreshReuseGraceSeconds: seconds })) },
  { weight: 1, arbitrary: fc.constantFrom(TIMEOUTS, { idleTimeoutSeconds: 300, absoluteTimeoutSeconds: 1200 }) },
);

const ms = fc.oneof(
  fc.constantFrom(1, 1_000, 3_999, 4_000, 6_000, 9_999, 10_000, 60_000, 300_000, SECONDS.retention * 1000),
  fc.integer({ min: 1, max: 1_000_000 }),
  // A negative wait sets the clock back.
  fc.integer({ min: -30_000, max: -1 }),
);
const exactOrBefore = fc.constantFrom(0, -1);

/** An index of the issued tickets, from the latest to the oldest, modulo their number. */
const ticket = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 20 }) });
const method = fc.constantFrom('otp', 'otp', 'hwk', 'pwd');
const methods = fc.constantFrom(['pwd'], ['hwk'], ['hwk', 'otp']);

/** An attempt with a secret, which is made `times` times. */
export interface Attempt {
  readonly method: string;
  readonly result: 'right' | 'wrong' | 'throws';
  readonly times: number;
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  method,
  result: fc.constantFrom('right' as const, 'right', 'wrong', 'wrong', 'throws'),
  times: fc.constantFrom(1, 1, 1, 1, 4, 5),
});

const TICKET_ACTIONS = [
  act(4, ['createTicket'], { methods, count: fc.constantFrom(1, 1, 1, 1, 20) }),
  act(1, ['verifyCredentials']),
  act(2, ['enrol'], { isRequired: fc.constantFrom(true, true, false) }),
  act(5, ['openWithTicket', 'openWithTicket', 'openTwice'], { ticket }),
  act(5, ['attempt'], { ticket, attempts: fc.array(attempt, { minLength: 1, maxLength: 3 }) }),
  act(1, ['outliveTicket'], { ticket, ms: exactOrBefore }),
];

/** Indexes of existing clients and tokens, modulo their number when the action runs. */
const client = fc.nat({ max: 20 });
const token = fc.nat({ max: 20 });
const network = fc.constantFrom(0, 0, 0, 1, 2, 3);

const SESSION_ACTIONS = [
  act(9, ['refresh'], { client, network }),
  act(4, ['replayLast'], { client, network }),
  act(3, ['refreshAgain'], { client, network, accessTokenUsed: fc.boolean(), again: network }),
  act(1, ['refreshTwice'], { client, network }),
  act(3, ['refreshWith'], { client, token, network }),
  act(2, ['authenticate'], { client, token }),
  act(5, ['authenticate'], { client, token: fc.constant(0) }),
  act(2, ['logout', 'changePassword', 'revoke'], { client }),
  act(1, ['logoutAll'], { client, keepCurrent: fc.boolean() }),
  act(2, ['reauthenticate'], { client, variant: fc.constantFrom('right', 'wrong', 'late') }),
  act(1, ['confirmIdentity'], { client, methods }),
  act(2, ['attemptInSession'], { client, method, results: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) }),
  act(2, ['forgeToken', 'exhaustReplays', 'exhaustReplays'], { client }),
  act(1, ['corruptToken'], { client, token, position: fc.nat(), by: fc.nat() }),
  act(2, ['restoreRow'], { client, copy: fc.nat({ max: 5 }) }),
  act(3, ['outliveTimeout'], {
    client,
    isDisabled: fc.boolean(),
    then: fc.constantFrom('prune', 'dryRun', 'reuse'),
  }),
  act(4, ['waitUntil'], { client, deadline: fc.nat(), ms: exactOrBefore }),
];

const OTHER_ACTIONS = [
  act(6, ['open']),
  act(2, ['login', 'wrongPassword', 'list']),
  act(2, ['prune', 'prune', 'dryRun']),
  act(2, ['disable', 'disable', 'enable', 'enable', 'enable', 'forget']),
  act(1, ['disableUser', 'enableUser', 'enableUser']),
  act(1, ['resetPassword', 'resetFailedLogins']),
  act(1, ['restart'], { configuration }),
  act(4, ['wait'], { ms }),
];

export type TicketAction = ActionOf<(typeof TICKET_ACTIONS)[number]>;
export type SessionAction = ActionOf<(typeof SESSION_ACTIONS)[number]>;
export type Action = TicketAction | SessionAction | ActionOf<(typeof OTHER_ACTIONS)[number]>;

export const action: fc.Arbitrary<Action> = fc.oneof(
  ...([...TICKET_ACTIONS, ...SESSION_ACTIONS, ...OTHER_ACTIONS] as fc.WeightedArbitrary<Action>[]),
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
