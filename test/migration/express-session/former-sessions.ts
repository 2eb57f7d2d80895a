import { Injectable, Logger, ServiceUnavailableException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Request } from 'express';
import 'express-session';
import { AuthError, AuthService, clientInfoOf, type OpenedSession, type UserId } from 'nestjs-session-auth';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Repository } from 'typeorm';
import { decrypt, digestOf, encrypt } from './opened-session-cipher.js';
import { TakenOver } from './taken-over.entity.js';

declare module 'express-session' {
  interface SessionData {
    passport?: { user?: UserId }; // or the property that your login stores, such as `userId`
  }
}

/** Former sessions are accepted until this date. Remove this file after it. */
const ACCEPTED_UNTIL = Date.parse('2027-06-30');

/** How long parallel and repeated requests with the same cookie get the same tokens. */
const REPEATABLE_MS = 10_000;

/** After one of these events, the user's former sessions are refused on all devices. */
const SIGN_OUTS = ['session_revoked', 'forced_logout', 'token_reuse', 'password_change', 'password_reset'] as const;

/** Replaces each session of express-session once with a session of this library. */
@Injectable()
export class FormerSessions {
  private readonly logger = new Logger(FormerSessions.name);

  constructor(
    private readonly auth: AuthService,
    @InjectRepository(TakenOver) private readonly rows: Repository<TakenOver>,
  ) {}

  /** Returns the user of the former session, or undefined. express-session has verified the signature. */
  userOf({ headers, session }: Request): UserId | undefined {
    // If there are two cookies, another host of the site may have planted one of them.
    const cookies = headers.cookie?.match(/(?:^|; ?)connect\.sid=/g) ?? [];
    return cookies.length === 1 ? session?.passport?.user : undefined;
  }

  /** Returns the session that replaces the former session, or null if the user has to sign in again. */
  async takeOver(request: Request): Promise<OpenedSession | null> {
    const userId = this.userOf(request);
    if (userId === undefined) return null;
    const opened = Date.now() < ACCEPTED_UNTIL ? await this.openOnce(userId, request) : null;
    if (!opened) await this.end(request);
    return opened;
  }

  /** Ends the former session of a browser that already has a new session. */
  async retire(request: Request): Promise<void> {
    const { row } = await this.claim(request, '');
    // Parallel requests of the same page may still need the former session.
    if (!row?.opened || !isRepeatable(row)) await this.end(request);
  }

  /** Ends a user's former sessions on all devices. */
  async endAllOf(userId: UserId): Promise<void> {
    const row = { digest: digestOfUser(userId), claim: randomUUID(), claimedAt: new Date(), opened: '' };
    await this.rows.createQueryBuilder().insert().values(row).orIgnore().execute();
  }

  private async openOnce(userId: UserId, request: Request): Promise<OpenedSession | null> {
    const { row, isOwn } = await this.claim(request, null);
    return isOwn ? this.open(userId, request) : this.openedBefore(row, request);
  }

  /** Inserts the row of the former session if there is none. Only one of several parallel requests succeeds. */
  private async claim({ sessionID }: Request, opened: '' | null): Promise<{ row: TakenOver | null; isOwn: boolean }> {
    const own = { digest: digestOf(sessionID), claim: randomUUID(), claimedAt: new Date(), opened };
    await this.rows.createQueryBuilder().insert().values(own).orIgnore().execute();
    const row = await this.rows.findOneBy({ digest: own.digest });
    return { row, isOwn: row?.claim === own.claim };
  }

  private async open(userId: UserId, request: Request): Promise<OpenedSession | null> {
    const digest = digestOf(request.sessionID);
    try {
      const opened = await this.openUnlessSignedOut(userId, request);
      await this.rows.update({ digest }, { opened: opened ? encrypt(opened, request.sessionID) : '' });
      return opened;
    } catch (error) {
      await this.rows.delete({ digest }); // The next request tries again.
      throw error;
    }
  }

  private async openUnlessSignedOut(userId: UserId, request: Request): Promise<OpenedSession | null> {
    const [signOut] = await this.auth.history(userId, { event: SIGN_OUTS, limit: 1 });
    if (signOut || (await this.rows.existsBy({ digest: digestOfUser(userId) }))) return null;
    try {
      return await this.auth.openSession(userId, clientInfoOf(request));
    } catch (error) {
      // The user was disabled or deleted.
      if (error instanceof AuthError && error.code === 'unknown_user') return null;
      throw error;
    }
  }

  /** Returns the session that another request has opened, or waits while the request opens it. */
  private async openedBefore(stored: TakenOver | null, { sessionID }: Request): Promise<OpenedSession | null> {
    let row = stored;
    while (row?.opened === null && isRepeatable(row)) {
      await wait(50);
      row = await this.rows.findOneBy({ digest: row.digest });
    }
    if (!row) throw new ServiceUnavailableException(); // The other request has failed.
    return row.opened && isRepeatable(row) ? decrypt(row.opened, sessionID) : null;
  }

  private async end({ session }: Request): Promise<void> {
    await new Promise<void>((resolve) => {
      session.destroy((error: Error | null | undefined) => {
        // The row in the table prevents another takeover.
        if (error) this.logger.warn(`A former session was not deleted: ${error.message}`);
        resolve();
      });
    });
  }
}

function digestOfUser(userId: UserId): string {
  return digestOf(`user ${userId}`);
}

function isRepeatable({ claimedAt }: TakenOver): boolean {
  return Date.now() - claimedAt.getTime() < REPEATABLE_MS;
}
