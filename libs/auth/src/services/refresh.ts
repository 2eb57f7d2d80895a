import type { ClientInfo } from '../domain/client';
import { AuthError } from '../domain/errors';
import { textProblem } from '../domain/fields';
import { isToken } from '../domain/opaque-token';
import type { RotateOutcome } from '../domain/outcomes';
import type { SessionStore } from '../domain/ports/session-store';
import type { SignalBus } from '../domain/ports/signal-bus';
import type { UserStore } from '../domain/ports/user-store';
import { viewSession } from '../domain/session';
import type { TokenPair } from '../domain/token-pair';
import type { ResolvedAuthOptions } from '../options/auth-options';
import type { ClientInspector } from './client-inspector';
import { refuseField } from './login';
import type { SealedAnswers } from './sealed-answers';
import type { SessionNotices } from './session-notices';
import type { TokenIssuer } from './token-issuer';

/** Exchange of a refresh token, and what follows from one that was used before. */
export class Refresh {
  constructor(
    private readonly options: ResolvedAuthOptions,
    private readonly tokens: TokenIssuer,
    private readonly inspector: ClientInspector,
    private readonly sessions: SessionStore,
    private readonly users: UserStore,
    private readonly signals: SignalBus,
    private readonly notices: SessionNotices,
    private readonly answers: SealedAnswers,
    /** Whether the database tells the account of a session's user. */
    private readonly accountsJoined: boolean,
  ) {}

  async refresh(presented: string, info: ClientInfo): Promise<TokenPair> {
    refuseField('refresh_token', textProblem(presented));
    if (!isToken('refresh', presented)) throw refused();
    const client = this.inspector.inspect(info);
    const presentedDigest = this.tokens.digest(presented);
    const access = this.tokens.issue('access');
    const next = this.options.rotateRefreshTokens ? this.tokens.issue('refresh') : null;
    const pair = { accessToken: access.plain, refreshToken: next?.plain ?? presented };
    const outcome = await this.sessions.rotate({
      ...this.notices.circumstances(client),
      presentedDigest,
      accessDigest: access.digest,
      accessTtlMs: this.options.accessTokenTtlSeconds * 1000,
      refreshDigest: next?.digest ?? null,
      refreshTtlMs: this.options.refreshTokenTtlSeconds * 1000,
      account: this.accountsJoined ? null : await this.accountBehind(presentedDigest),
      grace: this.answers.seal(presented, pair),
    });
    if (outcome.kind === 'rotated') return pair;
    const given = outcome.kind === 'replayed' && this.answers.unseal(presented, outcome.sealedAnswer);
    if (given) return given;
    if (outcome.kind === 'session_over') await this.notices.noticeOver(outcome.userId);
    if (outcome.kind === 'user_gone') await this.notices.noticeGone(outcome.userId, outcome.account, client);
    if (outcome.kind === 'reused') this.tellReuse(outcome, client.ipAddress, client.userAgent);
    throw refused();
  }

  private async accountBehind(digest: string): Promise<'active' | 'disabled' | 'deleted' | null> {
    const owner = await this.sessions.ownerOfRefreshDigest(digest);
    return owner === null ? null : this.notices.accountOf(this.users.parseId(owner));
  }

  private tellReuse(
    outcome: Extract<RotateOutcome, { kind: 'reused' }>,
    ipAddress: string | null,
    userAgent: string,
  ): void {
    const { session, ended, usedAt, generationsBehind } = outcome;
    this.signals.emit('token_reuse_detected', {
      userId: this.users.parseId(session.userId),
      session: viewSession(session, null),
      ipAddress,
      userAgent,
      reuse: { usedAt: new Date(usedAt), generationsBehind },
      sessionsEnded: ended.filter(({ reason }) => reason === 'token_reuse').length,
    });
    this.notices.tellEnds(ended);
  }
}

/** One answer for unknown, expired, revoked and used. */
function refused(): AuthError {
  return new AuthError('invalid_refresh_token', 'Invalid or expired refresh token.');
}
