import * as fc from 'fast-check';
import { SECONDS, type InstanceOptions, type ModelOptions } from './model';

/** An action of a user on one of two instances. */
interface Base {
  readonly instance: 0 | 1;
  readonly user: 0 | 1;
}

/** A union with one member for each kind, so that the kind distinguishes the members. */
type Of<K, Properties> = K extends string ? Base & { readonly kind: K } & Properties : never;
type Values<A> = { readonly [Key in keyof A]: A[Key] extends fc.Arbitrary<infer T> ? T : never };

/** Returns a weighted arbitrary of actions of the given kinds. */
function weighted<K extends string, A extends Record<string, fc.Arbitrary<unknown>> = Record<never, never>>(
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
  weighted(4, ['createTicket'], { methods, count: fc.constantFrom(1, 1, 1, 1, 20) }),
  weighted(1, ['verifyCredentials']),
  weighted(2, ['enrol'], { isRequired: fc.constantFrom(true, true, false) }),
  weighted(5, ['openWithTicket', 'openWithTicket', 'openTwice'], { ticket }),
  weighted(5, ['attempt'], { ticket, attempts: fc.array(attempt, { minLength: 1, maxLength: 3 }) }),
  weighted(1, ['outliveTicket'], { ticket, ms: exactOrBefore }),
];

/** Indexes of existing clients and tokens, modulo their number when the action runs. */
const client = fc.nat({ max: 20 });
const token = fc.nat({ max: 20 });
const network = fc.constantFrom(0, 0, 0, 1, 2, 3);

const SESSION_ACTIONS = [
  weighted(9, ['refresh'], { client, network }),
  weighted(4, ['replayLast'], { client, network }),
  weighted(3, ['refreshAgain'], { client, network, accessTokenUsed: fc.boolean(), again: network }),
  weighted(1, ['refreshTwice'], { client, network }),
  weighted(3, ['refreshWith'], { client, token, network }),
  weighted(2, ['authenticate'], { client, token }),
  weighted(5, ['authenticate'], { client, token: fc.constant(0) }),
  weighted(2, ['logout', 'changePassword', 'revoke'], { client }),
  weighted(1, ['logoutAll'], { client, keepCurrent: fc.boolean() }),
  weighted(2, ['reauthenticate'], { client, variant: fc.constantFrom('right', 'wrong', 'late') }),
  weighted(1, ['confirmIdentity'], { client, methods }),
  weighted(2, ['attemptInSession'], {
    client,
    method,
    results: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
  }),
  weighted(2, ['forgeToken', 'exhaustReplays', 'exhaustReplays'], { client }),
  weighted(1, ['corruptToken'], { client, token, position: fc.nat(), by: fc.nat() }),
  weighted(2, ['restoreRow'], { client, copy: fc.nat({ max: 5 }) }),
  weighted(3, ['outliveTimeout'], {
    client,
    isDisabled: fc.boolean(),
    then: fc.constantFrom('prune', 'dryRun', 'reuse'),
  }),
  weighted(4, ['waitUntil'], { client, deadline: fc.nat(), ms: exactOrBefore }),
];

const OTHER_ACTIONS = [
  weighted(6, ['open']),
  weighted(2, ['login', 'wrongPassword', 'list']),
  weighted(2, ['prune', 'prune', 'dryRun']),
  weighted(2, ['disable', 'disable', 'enable', 'enable', 'enable', 'forget']),
  weighted(1, ['disableUser', 'enableUser', 'enableUser']),
  weighted(1, ['resetPassword', 'resetFailedLogins']),
  weighted(1, ['restart'], { configuration }),
  weighted(4, ['wait'], { ms }),
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
