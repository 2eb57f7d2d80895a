import { Inject, Injectable } from '@nestjs/common';
import { ApplicationCalls } from '../adapters/application-calls';
import { ImpersonationPolicy, type ImpersonationRequest } from '../adapters/impersonation-policy';
import { isInRealm } from '../adapters/realm';
import type { ClientInfo } from '../adapters/second-factor';
import type { UserId } from '../adapters/user-store';
import { Clock } from '../base/clock';
import { assertValidField, invalidAccessToken, invalidField, standardError, unknownUser } from '../base/errors';
import { asciiJson, USERNAME_LENGTH, usernameProblem } from '../base/fields';
import { Metrics } from '../base/telemetry';
import { forUpdate } from '../database/dialect';
import { StatementFactory } from '../database/statements';
import { firstOf, type Step } from '../database/transaction';
import { ClientInspector } from '../history/event-log';
import { TokenIssuer } from '../tokens/tokens';
import { Users } from '../users/users';
import { assertNotImpersonating, assertSession, Authenticate, type AuthPrincipal } from './authenticate';
import { impersonationEvents, NO_CLIENT } from './end-sessions';
import { newSession, OpenSession } from './open-session';
import { accountFromRow, isExpired, sessionFromRow, type SessionRecord, SessionSql, type StoredActor } from './session';

/** The session of an administrator who acts as a user. It has no refresh token. */
export interface Impersonation {
  /** Send it in the header `Authorization: Bearer`. It is not accepted from cookies. */
  readonly accessToken: string;
  /** When the token and the session expire. The end of the administrator's session ends both earlier. */
  readonly accessTokenExpiresAt: Date;
  readonly sessionId: string;
  /** The id of the user whom the administrator acts as, in the application's type. */
  readonly userId: UserId;
}

/** The argument of `SessionAdministration.impersonate`. */
type Requested = Pick<ImpersonationRequest, 'reason'> & { readonly seconds?: number; readonly client?: ClientInfo };

const POLICY_TIMEOUT_MS = 2_000;
export const MAX_IMPERSONATION_SECONDS = 3_600;

/** Opens sessions in which administrators act as users. */
@Injectable()
export class Impersonate {
  private readonly calls = new ApplicationCalls('AuthImpersonation', 'impersonation policy', POLICY_TIMEOUT_MS);
  private readonly lockAdministrator;

  constructor(
    @Inject(ImpersonationPolicy) private readonly policy: ImpersonationPolicy | null,
    private readonly authentication: Authenticate,
    private readonly opening: OpenSession,
    private readonly users: Users,
    private readonly tokens: TokenIssuer,
    private readonly clients: ClientInspector,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    sql: SessionSql,
    statements: StatementFactory,
  ) {
    this.lockAdministrator = sql.select(
      `WHERE s.{session.id} = :sessionId AND s.{session.state} = 'active'
         AND s.{session.authenticatedAt} = :authenticatedAt ${forUpdate(statements.dialect)}`,
      sql.columnsWithAccount,
    );
  }

  async open(principal: AuthPrincipal, userId: string, request: Requested): Promise<Impersonation> {
    const { policy } = this;
    if (!policy) throw new Error('impersonate() requires a policy. Set the option `impersonationPolicy`.');
    assertSession(principal);
    assertNotImpersonating(principal);
    const { reason, seconds, client } = checkedRequest(request);
    const authenticatedAt = new Date(principal.authenticatedAt).getTime();
    const { sessionId } = principal;
    const actor: StoredActor = { userId: String(principal.userId), sessionId, authenticatedAt, reason };
    if (userId === actor.userId) throw invalidField('userId', 'Must be the id of another user.');
    const unknown = this.clients.inspect({ realm: principal.realm });
    // Read before the user, so that a user who is disabled meanwhile has another version.
    const credentialsVersion = await this.users.credentialsVersion(userId, null);
    const administrator = await this.users.accountOf(actor.userId);
    const own = administrator.status === 'active' ? await this.sessionOf(actor) : null;
    if (!own) throw invalidAccessToken();
    const user = await this.users.accountOf(userId);
    if (user.status !== 'active' || !isInRealm(user.user, unknown.realm)) throw unknownUser();
    const ask = () => policy.isAllowed(administrator.user!, user.user!, { reason, seconds });
    if (!(await this.calls.callBoolean('isAllowed', ask))) throw standardError('impersonation_refused');

    const now = this.clock.now();
    const lifetimeMs = Math.min(seconds * 1000, own.expiresAt - now);
    if (lifetimeMs <= 0) throw invalidAccessToken();
    const { sessionId: id, tokens, digests } = this.tokens.issueFamily();
    const session = {
      ...newSession(id, userId, now, { idleMs: lifetimeMs, absoluteMs: lifetimeMs }, unknown),
      ...{ accessDigest: digests.accessDigest, accessExpiresAt: now + lifetimeMs },
      // No digest is empty, so that no refresh token matches.
      ...{ refreshDigest: '', familyDigest: '', refreshExpiresAt: now, remembered: false, persistent: false },
      // The user has not proven their identity.
      ...{ authenticatedAt: 0, methods: '{}', data: null, actor: asciiJson(actor) },
    };
    const check = (): Step<boolean> => this.isStillLive(actor, session.expiresAt);
    const by = this.clients.inspect(client);
    const events = impersonationEvents('impersonation_started', session, NO_CLIENT, by, now, { reason });
    const outcome = await this.opening.store({ credentialsVersion, check, events }, session, unknown);
    // Either account or the administrator's session has changed since it was read.
    if (outcome.kind !== 'opened') return this.open(principal, userId, request);
    // Not a login of the user, so `user_logged_in` is not emitted.
    this.metrics.count('session_auth.session.opened', 1);
    const accessTokenExpiresAt = new Date(session.accessExpiresAt);
    return { accessToken: tokens.accessToken, accessTokenExpiresAt, sessionId: id, userId: this.users.parseId(userId) };
  }

  /** Returns the administrator's session, or null if it is not live, or the principal's tokens were replaced. */
  private async sessionOf({ sessionId, userId, authenticatedAt }: StoredActor): Promise<SessionRecord | null> {
    const session = (await this.authentication.findActive([sessionId]))[0]?.session;
    if (session?.userId !== userId || session.authenticatedAt !== authenticatedAt) return null;
    // The principal may be an object of the application.
    assertNotImpersonating(session);
    return isExpired(session, this.clock.now()) ? null : session;
  }

  /** Locks the administrator's session, and returns whether it is live, and does not end before the new session. */
  private *isStillLive(actor: StoredActor, until: number): Step<boolean> {
    const row = yield* firstOf(this.lockAdministrator.with({ ...actor }));
    return row !== null && (accountFromRow(row) ?? 'active') === 'active' && sessionFromRow(row).expiresAt >= until;
  }
}

function checkedRequest(request: Requested): Required<Requested> {
  const { reason, seconds = 900, client = {} } = Object(request) as Requested;
  assertValidField('reason', usernameProblem(reason, USERNAME_LENGTH));
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_IMPERSONATION_SECONDS)
    throw invalidField('seconds', `Must be a whole number from 1 to ${MAX_IMPERSONATION_SECONDS}.`);
  return { reason, seconds, client };
}
