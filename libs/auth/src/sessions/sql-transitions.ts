import { Injectable } from '@nestjs/common';
import type { AccountStatus } from '../adapters/user-store';
import { Database } from '../database/database';
import type { OperationContext } from '../history/client';
import type { NewTokenFamily, PairExpiries } from '../tokens/tokens';
import type { CurrentSession } from './authenticate';
import { type EndSessions, SessionRevocation } from './end-sessions';
import { type OpenOutcome, type OpenSession, SessionOpener } from './open-session';
import { TokenReissue } from './reissue';
import { RefreshTokenRotation, type RotateOutcome, type RotateToken } from './rotate';
import type { EndedSession } from './session';
import { SessionTransitions } from './transitions';

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
