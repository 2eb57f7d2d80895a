import { Injectable } from '@nestjs/common';
import type { AccountStatus } from '../../domain/account-status';
import type { OpenOutcome, RotateOutcome } from '../../domain/outcomes';
import type { CurrentSession, EndSessions, OpenSession, OperationContext } from '../../domain/ports/sessions';
import { type NewTokenFamily, type RotateToken, SessionTransitions } from '../../domain/ports/sessions';
import type { EndedSession } from '../../domain/session';
import type { PairExpiries } from '../../domain/tokens';
import { Database } from '../database/database';
import { RefreshTokenRotation } from './refresh-token-rotation';
import { SessionOpener } from './session-opener';
import { SessionRevocation } from './session-revocation';
import { TokenReissue } from './token-reissue';

/**
 * Runs the transitions of sessions in the application's database. Delegates each transition to the
 * class that implements it.
 */
@Injectable()
export class SqlSessionTransitions extends SessionTransitions {
  constructor(
    private readonly database: Database,
    private readonly opener: SessionOpener,
    private readonly rotation: RefreshTokenRotation,
    private readonly revocation: SessionRevocation,
    private readonly tokenReissue: TokenReissue,
  ) {
    super();
  }

  open(command: OpenSession): Promise<OpenOutcome> {
    return this.opener.open(command);
  }

  rotate(command: RotateToken): Promise<RotateOutcome> {
    return this.rotation.rotate(command);
  }

  reissue(
    session: CurrentSession,
    issued: NewTokenFamily,
    methods: readonly string[],
    context: OperationContext,
  ): Promise<PairExpiries | null> {
    return this.tokenReissue.reissueAfterReauthentication(session, issued, methods, context);
  }

  end(command: EndSessions): Promise<readonly EndedSession[]> {
    return this.revocation.run((write) => this.revocation.endAndRecord(command, write));
  }

  endForInactiveAccount(
    userId: string,
    account: AccountStatus | null,
    context: OperationContext,
  ): Promise<readonly EndedSession[]> {
    return this.revocation.run((write) => this.revocation.endForInactiveAccount(userId, account, context, write));
  }

  expire(userId: string, now: number): Promise<readonly EndedSession[]> {
    return this.database.transaction(() => this.revocation.expire(userId, now));
  }
}
