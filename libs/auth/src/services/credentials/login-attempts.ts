import { Inject, Injectable } from '@nestjs/common';
import type { Client, ClientInfo } from '../../domain/client';
import type { AuthError } from '../../domain/errors';
import type { AttemptKeys } from '../../domain/failure-streak';
import type { StoredUser } from '../../domain/ports/accounts';
import { CryptoSource } from '../../domain/ports/platform';
import { foldName } from '../../domain/username';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { ClientInspector } from '../sessions/client-inspector';
import { AttemptSlots } from './attempt-slots';
import { FailedLoginReport } from './failed-login-report';

/** One verification of a password, whose slots are taken. */
export interface Attempt {
  readonly keys: AttemptKeys;
  readonly client: Client;
}

/** The result of a verification. */
export type Verdict<T> =
  | { readonly right: T }
  /** The error to refuse it with, and the user who has the name, if any. */
  | { readonly wrong: AuthError; readonly user: StoredUser | null };

/** Throttles the verification of passwords, and has those counted and reported that are wrong. */
@Injectable()
export class LoginAttempts {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    private readonly inspector: ClientInspector,
    private readonly crypto: CryptoSource,
    private readonly slots: AttemptSlots,
    private readonly report: FailedLoginReport,
  ) {}

  /**
   * Runs the verification of one password, and counts it if it was wrong. A right one ends the
   * failure streaks when a session is opened with the attempt's keys, or by `succeed`.
   * @param isInSession whether the password is confirmed within a session
   * @throws AuthError `too_many_attempts`, before anything is verified or counted
   */
  async run<T>(
    username: string,
    info: ClientInfo,
    isInSession: boolean,
    verify: (attempt: Attempt) => Promise<Verdict<T>>,
  ): Promise<T> {
    const client = this.inspector.inspect(info);
    const keys = { network: this.keyOf(username, client.network), name: this.keyOf(username) };
    const attempt = { keys, client };
    const request = { keys, username, client, isInSession };
    const verdict = await this.slots.run(request, async () => {
      const result = await verify(attempt);
      if ('wrong' in result) await this.slots.fail(keys, this.report.of(client, username, result.user));
      return result;
    });
    if ('right' in verdict) return verdict.right;
    throw verdict.wrong;
  }

  /** Ends the failure streaks of an attempt that opened no session. */
  succeed({ keys }: Attempt): Promise<void> {
    return this.slots.succeed(keys);
  }

  /** Ends all failure streaks of a name, from wherever they come. */
  reset(username: string): Promise<void> {
    return this.slots.reset(this.keyOf(username));
  }

  /** The digest under which the attempts for a name, from one network or from anywhere, are counted. */
  private keyOf(username: string, network = '*'): string {
    return this.crypto.sha256(`${network}\0${foldName(username, this.options.nameMatching)}`);
  }
}
