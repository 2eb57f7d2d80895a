import * as fc from 'fast-check';
import { SECONDS, type InstanceOptions, type ModelOptions } from './model';

type Base = { readonly instance: 0 | 1; readonly user: 0 | 1 };

/** `client` and `token` are indexes of existing clients and tokens, modulo their number when the action runs. */
export type SessionAction = Base & { readonly client: number } & (
    | { readonly kind: 'revoke' | 'forgeToken' | 'exhaustReplays' }
    | { readonly kind: 'logout' | 'changePassword' }
    | { readonly kind: 'reauthenticate'; readonly variant: 'right' | 'wrong' | 'late' }
    | { readonly kind: 'confirmIdentity'; readonly methods: readonly string[] }
    | { readonly kind: 'attemptInSession'; readonly method: string; readonly results: readonly boolean[] }
    | { readonly kind: 'logoutAll'; readonly keepCurrent: boolean }
    | { readonly kind: 'refresh' | 'refreshTwice' | 'replayLast'; readonly network: number }
    | {
        readonly kind: 'refreshAgain';
        readonly network: number;
        readonly accessTokenUsed: boolean;
        readonly again: number;
      }
    | { readonly kind: 'refreshWith'; readonly token: number; readonly network: number }
    | { readonly kind: 'authenticate'; readonly token: number }
    | { readonly kind: 'corruptToken'; readonly token: number; readonly position: number; readonly by: number }
    | { readonly kind: 'restoreRow'; readonly copy: number }
    | { readonly kind: 'outliveTimeout'; readonly isDisabled: boolean; readonly then: 'prune' | 'dryRun' | 'reuse' }
    | { readonly kind: 'waitUntil'; readonly deadline: number; readonly ms: 0 | -1 }
  );

/** `ticket` is an index of the issued tickets, from the latest to the oldest, modulo their number. */
export type TicketAction = Base &
  (
    | { readonly kind: 'createTicket'; readonly methods: readonly string[]; readonly count: number }
    | { readonly kind: 'verifyCredentials' }
    | { readonly kind: 'enrol'; readonly isRequired: boolean }
    | ({ readonly ticket: number } & (
        | { readonly kind: 'openWithTicket' | 'openTwice' }
        | { readonly kind: 'attempt'; readonly attempts: readonly Attempt[] }
        | { readonly kind: 'outliveTicket'; readonly ms: 0 | -1 }
      ))
  );

/** An attempt with a secret, which is made `times` times. */
export interface Attempt {
  readonly method: string;
  readonly result: 'right' | 'wrong' | 'throws';
  readonly times: number;
}

export type Action =
  | SessionAction
  | TicketAction
  | (Base & {
      readonly kind: 'open' | 'login' | 'wrongPassword' | 'list' | 'disable' | 'enable' | 'forget' | 'prune' | 'dryRun';
    })
  | (Base & { readonly kind: 'resetPassword' | 'disableUser' | 'enableUser' | 'resetFailedLogins' })
  | (Base & { readonly kind: 'restart'; readonly configuration: Partial<InstanceOptions> })
  | (Base & { readonly kind: 'wait'; readonly ms: number });

/** Client addresses. The last two belong to one network. */
export const ADDRESSES = ['192.0.2.1', '198.51.100.7', '2001:db8::1', '2001:db8::2'] as const;

const base = { instance: fc.constantFrom(0 as const, 1 as const), user: fc.constantFrom(0 as const, 1 as const) };
const client = fc.nat({ max: 20 });
const token = fc.nat({ max: 20 });
const network = fc.constantFrom(0, 0, 0, 1, 2, 3);

const kind = <K extends Action['kind']>(...kinds: K[]): fc.Arbitrary<K> => fc.constantFrom(...kinds);

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

const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>): fc.WeightedArbitrary<Action> => ({
  weight,
  arbitrary,
});

const ticket = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 20 }) });
const method = fc.constantFrom('otp', 'otp', 'hwk', 'pwd');
const methods = fc.constantFrom(['pwd'], ['hwk'], ['hwk', 'otp']);
const attempt: fc.Arbitrary<Attempt> = fc.record({
  method,
  result: fc.constantFrom('right' as const, 'right', 'wrong', 'wrong', 'throws'),
  times: fc.constantFrom(1, 1, 1, 1, 4, 5),
});

const ticketActions: readonly fc.WeightedArbitrary<Action>[] = [
  weighted(4, fc.record({ ...base, kind: kind('createTicket'), methods, count: fc.constantFrom(1, 1, 1, 1, 20) })),
  weighted(1, fc.record({ ...base, kind: kind('verifyCredentials') })),
  weighted(2, fc.record({ ...base, kind: kind('enrol'), isRequired: fc.constantFrom(true, true, false) })),
  weighted(5, fc.record({ ...base, kind: kind('openWithTicket', 'openWithTicket', 'openTwice'), ticket })),
  weighted(
    5,
    fc.record({ ...base, kind: kind('attempt'), ticket, attempts: fc.array(attempt, { minLength: 1, maxLength: 3 }) }),
  ),
  weighted(1, fc.record({ ...base, kind: kind('outliveTicket'), ticket, ms: fc.constantFrom(0 as const, -1) })),
  weighted(1, fc.record({ ...base, kind: kind('resetPassword', 'resetFailedLogins') })),
  weighted(1, fc.record({ ...base, kind: kind('disableUser', 'enableUser', 'enableUser') })),
  weighted(1, fc.record({ ...base, kind: kind('confirmIdentity'), client, methods })),
  weighted(
    2,
    fc.record({
      ...base,
      kind: kind('attemptInSession'),
      client,
      method,
      results: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
    }),
  ),
];

export const action: fc.Arbitrary<Action> = fc.oneof(
  ...ticketActions,
  weighted(6, fc.record({ ...base, kind: kind('open') })),
  weighted(2, fc.record({ ...base, kind: kind('login', 'wrongPassword', 'list') })),
  weighted(2, fc.record({ ...base, kind: kind('prune', 'prune', 'dryRun') })),
  weighted(
    3,
    fc.record({
      ...base,
      kind: kind('outliveTimeout'),
      client,
      isDisabled: fc.boolean(),
      then: fc.constantFrom('prune', 'dryRun', 'reuse'),
    }),
  ),
  weighted(2, fc.record({ ...base, kind: kind('disable', 'disable', 'enable', 'enable', 'enable', 'forget') })),
  weighted(1, fc.record({ ...base, kind: kind('restart'), configuration })),
  weighted(9, fc.record({ ...base, kind: kind('refresh'), client, network })),
  weighted(4, fc.record({ ...base, kind: kind('replayLast'), client, network })),
  weighted(
    3,
    fc.record({ ...base, kind: kind('refreshAgain'), client, network, accessTokenUsed: fc.boolean(), again: network }),
  ),
  weighted(1, fc.record({ ...base, kind: kind('refreshTwice'), client, network })),
  weighted(2, fc.record({ ...base, kind: kind('logout', 'changePassword', 'revoke'), client })),
  weighted(
    2,
    fc.record({ ...base, kind: kind('reauthenticate'), client, variant: fc.constantFrom('right', 'wrong', 'late') }),
  ),
  weighted(2, fc.record({ ...base, kind: kind('forgeToken', 'exhaustReplays', 'exhaustReplays'), client })),
  weighted(2, fc.record({ ...base, kind: kind('restoreRow'), client, copy: fc.nat({ max: 5 }) })),
  weighted(1, fc.record({ ...base, kind: kind('corruptToken'), client, token, position: fc.nat(), by: fc.nat() })),
  weighted(3, fc.record({ ...base, kind: kind('refreshWith'), client, token, network })),
  weighted(2, fc.record({ ...base, kind: kind('authenticate'), client, token })),
  weighted(5, fc.record({ ...base, kind: kind('authenticate'), client, token: fc.constant(0) })),
  weighted(1, fc.record({ ...base, kind: kind('logoutAll'), client, keepCurrent: fc.boolean() })),
  weighted(4, fc.record({ ...base, kind: kind('wait'), ms })),
  weighted(
    4,
    fc.record({ ...base, kind: kind('waitUntil'), client, deadline: fc.nat(), ms: fc.constantFrom(0 as const, -1) }),
  ),
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
