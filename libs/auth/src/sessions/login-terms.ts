import { Inject, Injectable } from '@nestjs/common';
import { ApplicationCalls, kindOf, WrongResultError } from '../adapters/application-calls';
import { type LoginDecision, LoginPolicy, type LoginRefusal } from '../adapters/login-policy';
import type { StoredUser } from '../adapters/user-store';
import { ERROR_RESPONSES } from '../base/errors';
import { isPlainObject } from '../base/fields';
import type { Client } from '../history/event-log';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';
import { lifetimesOf, remembersSessions } from '../options/resolve-options';
import { patchedData, provenMethods, type StoredProofs } from './session';

const TIMEOUT_MS = 2_000;

/** A code of the application, such as `account_suspended`. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** The terms on which a session opens. */
export interface DecidedTerms {
  readonly idleMs: number;
  readonly absoluteMs: number;
  readonly remembered: boolean;
  readonly persistent: boolean;
  readonly data: string | null;
}

/** Decides the terms of a new session by the options and the application's `LoginPolicy`, if it has one. */
@Injectable()
export class LoginTerms {
  private readonly calls = new ApplicationCalls('AuthLoginPolicy', 'login policy', TIMEOUT_MS);

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    @Inject(LoginPolicy) private readonly policy: LoginPolicy | null,
  ) {}

  /**
   * Returns the terms, or the refusal of the policy. Call it outside the hash queue, locks and transactions, because the
   * policy may be slow.
   * @throws AuthError `database_unavailable` if the policy fails, or does not answer in 2 seconds
   */
  async decide(
    { id, username }: StoredUser,
    proofs: StoredProofs,
    wantsToBeRemembered: boolean,
    { info, realm }: Client,
  ): Promise<DecidedTerms | { readonly refuse: LoginRefusal }> {
    const hasOption = remembersSessions(this.options);
    const remembered = hasOption && wantsToBeRemembered;
    const { idleMs, absoluteMs } = lifetimesOf(this.options, remembered);
    const byDefault = { idleMs, absoluteMs, remembered, persistent: remembered || !hasOption, data: proofs.data };
    if (!this.policy) return byDefault;
    const methods = Object.keys(provenMethods(proofs.methods));
    return this.calls.call('decide', async () => {
      const login = { client: info, methods, rememberMe: remembered, realm };
      const decision = this.checked(await this.policy!.decide({ id, username }, login));
      if (decision.refuse) return { refuse: decision.refuse };
      const { idleTimeoutSeconds, absoluteTimeoutSeconds, persistent = byDefault.persistent, data } = decision;
      return {
        idleMs: Math.min(idleMs, (idleTimeoutSeconds ?? Infinity) * 1000),
        absoluteMs: Math.min(absoluteMs, (absoluteTimeoutSeconds ?? Infinity) * 1000),
        remembered,
        persistent,
        data: data === undefined ? proofs.data : patchedData(proofs.data, data),
      };
    });
  }

  /** Refuses everything else, also unknown properties, because a misspelled `refuse` must not open a session. */
  private checked(result: unknown): LoginDecision {
    if (result === null || result === undefined) return {};
    if (!isPlainObject(result)) {
      throw new WrongResultError(`${kindOf(result)}. Return terms, { refuse: { code, detail } } or null.`);
    }
    // Enforced for the same reason as for the option `activityIntervalSeconds`: activity is written only so often.
    const minIdle = Math.max(1, 4 * this.options.activityIntervalSeconds);
    const accepted: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
      refuse: ['{ code, detail } with a code of your own in lower case, such as account_suspended', isRefusal],
      idleTimeoutSeconds: [`a whole number of at least ${minIdle}`, (value) => isInteger(value, minIdle)],
      absoluteTimeoutSeconds: ['a whole number of at least 1', (value) => isInteger(value, 1)],
      persistent: ['true or false', (value) => typeof value === 'boolean'],
      data: ['a plain object', isPlainObject],
    };
    for (const [name, value] of Object.entries(result)) {
      const rule = Object.hasOwn(accepted, name) ? accepted[name]! : null;
      if (!rule) throw new WrongResultError(`an unknown property. Use only ${Object.keys(accepted).join(', ')}.`);
      const [expected, accepts] = rule;
      if (value !== undefined && !accepts(value)) throw new WrongResultError(`a wrong ${name}. Return ${expected}.`);
    }
    return result;
  }
}

function isInteger(value: unknown, min: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min;
}

/** Clients rely on the meaning of the library's codes, so that the application must not use them. */
function isRefusal(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { code, detail, ...others } = value as Partial<Record<keyof LoginRefusal, unknown>>;
  if (typeof code !== 'string' || !CODE.test(code) || Object.hasOwn(ERROR_RESPONSES, code)) return false;
  // With the reason `session_limit`, events of the library record another refusal.
  return code !== 'session_limit' && typeof detail === 'string' && detail !== '' && Object.keys(others).length === 0;
}
