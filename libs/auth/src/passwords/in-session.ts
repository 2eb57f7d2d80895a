import { Injectable } from '@nestjs/common';
import type { StoredUser } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, invalidAccessToken, invalidField } from '../base/errors';
import { FIELD_MESSAGES, passwordProblem } from '../base/fields';
import { Database } from '../database/database';
import { forUpdate } from '../database/dialect';
import { StatementFactory } from '../database/statements';
import { changeAll, firstOf, type Step } from '../database/transaction';
import type { Operation } from '../history/event-log';
import { assertNotImpersonating, assertSession, type AuthPrincipal, currentSessionOf } from '../sessions/authenticate';
import { EndSessions } from '../sessions/end-sessions';
import { OpenSockets } from '../sessions/open-sockets';
import { assertMethods, withProvenMethods } from '../sessions/session';
import { Reissue } from '../sessions/rotate';
import { PASSWORD_METHOD, type Subject, Throttle } from '../throttle/throttle';
import { TokenIssuer, tokenPair, type TokenPair } from '../tokens/tokens';
import { Users } from '../users/users';
import { HashQueue, Passwords } from './passwords';

/**
 * Checks passwords and other secrets within a session, and confirms the user's identity. Failures are counted
 * separately from failed logins, so that failed logins do not block a user's open sessions.
 */
@Injectable()
export class InSession {
  private readonly sql;

  constructor(
    private readonly users: Users,
    private readonly passwords: Passwords,
    private readonly queue: HashQueue,
    private readonly throttle: Throttle,
    private readonly endSessions: EndSessions,
    private readonly reissues: Reissue,
    private readonly tokens: TokenIssuer,
    private readonly sockets: OpenSockets,
    private readonly clock: Clock,
    private readonly database: Database,
    statements: StatementFactory,
  ) {
    const active = `{session.id} = :id AND {session.state} = 'active'`;
    const live = `${active} AND {session.accessDigest} = :accessDigest`;
    const lock = forUpdate(statements.dialect);
    this.sql = {
      lockActive: statements.statement(`SELECT 1 AS active FROM {session} WHERE ${active} ${lock}`),
      readMethods: statements.statement(`SELECT {session.methods} AS methods FROM {session} WHERE ${live}`),
      writeMethods: statements.statement(
        `UPDATE {session} SET {session.methods} = :methods WHERE ${live} AND {session.methods} = :methodsRead`,
      ),
    };
  }

  reauthenticate(principal: AuthPrincipal, password: string, op: Operation): Promise<TokenPair> {
    return this.withPassword(principal, password, 'password', op, () => this.reissue(principal, [PASSWORD_METHOD], op));
  }

  async confirmIdentity(principal: AuthPrincipal, methods: readonly string[], op: Operation): Promise<TokenPair> {
    assertMethods(methods);
    return this.reissue(principal, methods, op);
  }

  /**
   * Runs `work` if the password of the session's user is right. Otherwise throws `invalid_field` for the field. The
   * 100th wrong secret of a method in a row ends the session.
   * @throws AuthError `access_token_invalid`; `too_many_attempts` or `busy`, before the password is verified
   */
  async withPassword<T extends object>(
    principal: AuthPrincipal,
    password: string,
    field: string,
    op: Operation,
    work: (user: StoredUser) => Promise<T>,
  ): Promise<T> {
    assertValidField(field, passwordProblem(password));
    const verify = (user: StoredUser): Promise<boolean> => this.passwords.verify(password, user, op.client.network);
    const result = await this.verifyThen(principal, PASSWORD_METHOD, op, verify, work);
    if (result === null) throw invalidField(field, FIELD_MESSAGES.password);
    return result;
  }

  /** Returns whether a secret is right, and if so, adds its method to the session. Throws as `withPassword` does. */
  async attempt(
    principal: AuthPrincipal,
    method: string,
    op: Operation,
    verify: (user: StoredUser) => Promise<boolean>,
  ): Promise<boolean> {
    const { readMethods, writeMethods } = this.sql;
    const { id, accessDigest } = currentSessionOf(principal);
    const { clock } = this;
    const addMethod = function* (): Step<true> {
      const row = yield* firstOf(readMethods.with({ id, accessDigest }));
      if (!row) throw invalidAccessToken();
      const methodsRead = String(row['methods']);
      const methods = withProvenMethods(methodsRead, [method], clock.now());
      yield* changeAll(writeMethods.with({ id, accessDigest, methods, methodsRead }), 1);
      return true;
    };
    const work = (): Promise<true> => this.database.transaction(op.tx, addMethod, { retryUnknownCommit: true });
    return (await this.verifyThen(principal, method, op, verify, work)) ?? false;
  }

  /** Returns the result of `work`, which runs if the secret is right, or null if the secret is wrong. */
  private async verifyThen<T>(
    principal: AuthPrincipal,
    method: string,
    op: Operation,
    verify: (user: StoredUser) => Promise<boolean>,
    work: (user: StoredUser) => Promise<T>,
  ): Promise<T | null> {
    assertSession(principal);
    assertNotImpersonating(principal);
    return this.queue.enter(op.client.network, async () => {
      const user = await this.users.findById(principal.userId, op.tx);
      if (!user) throw invalidAccessToken();
      const { sessionId } = principal;
      const { lockActive } = this.sql;
      const subject: Subject = {
        ...this.throttle.inSession(sessionId, method, user),
        // A session that has ended gives no further guesses.
        *begin() {
          if (!(yield* firstOf(lockActive.with({ id: sessionId })))) throw invalidAccessToken();
        },
        endSession: (tx) => {
          const command = { userId: String(user.id), sessionId, currentId: sessionId } as const;
          return this.endSessions.end({ ...command, reason: 'failed_reauthentication' }, { ...op, tx });
        },
      };
      const isRight = await this.throttle.attempt(subject, op, async (charge) => {
        if (!(await verify(user))) return false;
        // Cleared before the work runs, because the application may roll back the transaction of the work.
        await this.throttle.clearNow(charge, op);
        return true;
      });
      return isRight ? work(user) : null;
    });
  }

  private async reissue(principal: AuthPrincipal, methods: readonly string[], op: Operation): Promise<TokenPair> {
    assertNotImpersonating(principal);
    const current = currentSessionOf(principal);
    const { tokens, digests } = this.tokens.issueFamily(current.id);
    const terms = await this.reissues.reissueAfterReauthentication(current, digests, methods, op.client);
    if (!terms) throw invalidAccessToken();
    this.sockets.closeForSessions([current.id]);
    return tokenPair(tokens, terms);
  }
}
