import type { IssuedPair } from '../domain/ports/session-store';
import type { SessionRecord } from '../domain/session';
import type { AuthTables } from './auth-tables';
import { sessionFromRow } from './rows';
import { affectedBy, firstOf, type Unit } from './sql/unit';

/** Gives a session that goes on a fresh token pair; the old refresh token is revoked, which is not the same as used. */
export class SessionRefitter {
  private readonly read;
  private readonly replaceTokens;
  private readonly insertRevoked;

  constructor(tables: AuthTables) {
    const digest = 's.{session.refreshDigest} AS refresh_digest, s.{session.generation} AS generation';
    this.read = tables.selectSessionWithAccount(digest, 'WHERE s.{session.id} = :id');
    this.replaceTokens = tables.statement(
      `UPDATE {session} SET {session.accessDigest} = :accessDigest, {session.accessExpiresAt} = :accessExpiresAt,
         {session.refreshDigest} = :refreshDigest, {session.refreshExpiresAt} = :refreshExpiresAt,
         {session.authenticatedAt} = :now, {session.generation} = {session.generation} + 1, {session.sealedAnswer} = NULL, {session.sealedUntil} = NULL
       WHERE {session.id} = :id`,
    );
    this.insertRevoked = tables.statement(
      `INSERT INTO {refresh} ({refresh.digest}, {refresh.sessionId}, {refresh.generation}, {refresh.state},
         {refresh.retiredAt}, {refresh.expiresAt})
       VALUES (:digest, :sessionId, :generation, 'revoked', :now, :expiresAt)`,
    );
  }

  /** The session must be active and locked. */
  *refit(id: string, issued: IssuedPair, now: number): Unit<SessionRecord | null> {
    const row = yield* firstOf(this.read.with({ id }));
    if (!row || row['refresh_digest'] === issued.refreshDigest) return row && sessionFromRow(row);
    const session = sessionFromRow(row);
    const { absoluteExpiresAt } = session;
    yield* affectedBy(
      this.insertRevoked.with({
        digest: row['refresh_digest'],
        sessionId: id,
        generation: row['generation'],
        now,
        expiresAt: absoluteExpiresAt,
      }),
    );
    yield* affectedBy(
      this.replaceTokens.with({
        ...issued,
        id,
        now,
        accessExpiresAt: Math.min(issued.accessExpiresAt, absoluteExpiresAt),
        refreshExpiresAt: Math.min(issued.refreshExpiresAt, absoluteExpiresAt),
      }),
    );
    return session;
  }
}
