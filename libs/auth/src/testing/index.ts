// The entry point for the tests of applications: `import { ... } from 'nestjs-session-auth/testing'`.

import type { CanActivate, INestApplicationContext } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { SessionData } from '../adapters/login-policy';
import { PasswordHasher } from '../adapters/password-hasher';
import type { ClientInfo } from '../adapters/second-factor';
import type { RequestUser, UserId } from '../adapters/user-store';
import { AuthService } from '../auth.service';
import { Clock } from '../base/clock';
import { sha256 } from '../base/random';
import type { AuthSignalName, AuthSignals, SessionInfo } from '../history/signals';
import { Caller, storeCaller } from '../http/callers';
import { isPublicRoute } from '../http/route-rules';
import { SessionPrincipal } from '../sessions/authenticate';
import { storedProofs } from '../sessions/session';
import type { OpenedSession } from '../tokens/tokens';

/** The injection token of the clock: `overrideProvider(Clock).useValue(new DrivenClock())`. */
export { Clock };

/** A session opened for a test. */
export interface ActingSession extends OpenedSession {
  /** The headers of an authenticated request: `{ Authorization: 'Bearer ...' }`. */
  readonly headers: { readonly Authorization: string };
}

/**
 * Opens a session with `AuthService.openSession`, without a password and without an HTTP request.
 * @param client the client of the session. Default: an unknown client
 * @param proofs such as `{ methods: ['pwd', 'otp'] }` for routes with `@RequireRecentLogin({ methods })`. Default: none
 * @throws AuthError `session_limit_reached`, `unknown_user`
 */
export async function actingAs(
  app: INestApplicationContext,
  user: { readonly id: UserId } | UserId,
  client: ClientInfo = {},
  proofs: { readonly methods?: readonly string[]; readonly data?: Partial<SessionData> } = {},
): Promise<ActingSession> {
  const opened = await app.get(AuthService, { strict: false }).openSession(user, client, proofs);
  return { ...opened, headers: { Authorization: `Bearer ${opened.accessToken}` } };
}

/**
 * Returns a replacement of `BearerAuthGuard` that admits each call as the user, for tests of controllers without
 * `AuthModule`: `overrideGuard(BearerAuthGuard).useValue(guardFor({ id: '1', username: 'alice' }))`. `@CurrentUser()` and
 * `request.user` are the user, whose `roles` are those of the principal. It checks neither `@RequireRecentLogin()` nor
 * `@RequireRoles()`.
 * @param proofs the methods and the data of the session. Default: `{ methods: ['pwd'] }`
 */
export function guardFor<User extends { readonly id: UserId }>(
  user: User,
  proofs: { readonly methods?: readonly string[]; readonly data?: Partial<SessionData> } = { methods: ['pwd'] },
): CanActivate {
  const sessionId = randomUUID();
  return {
    canActivate(context) {
      if (isPublicRoute(context)) return true;
      const now = new Date();
      const found = { ...storedProofs(proofs, now.getTime()), accessDigest: '' };
      const read = user as unknown as RequestUser;
      const principal = new SessionPrincipal(user.id, sessionId, now, found, read, read.roles);
      const session: SessionInfo = {
        ...{ id: sessionId, state: 'active', ipAddress: null, createdAt: now, lastActivity: now, isCurrent: true },
        ...{ lastIpAddress: null, expiresAt: new Date(now.getTime() + 3_600_000), impersonated: false },
        methods: Object.keys(principal.methods),
        ...{ deviceType: 'other', osFamily: 'Other', browserFamily: 'Other', deviceName: 'Other' },
      };
      const loaders = { loadUser: () => Promise.resolve(user), currentSession: () => Promise.resolve(session) };
      storeCaller(context, new Caller(principal, loaders), false);
      return true;
    },
  };
}

/** A fast and insecure hasher for tests: `passwordHasher: CheapPasswordHasher`. It requires `NODE_ENV` to be `test`. */
export class CheapPasswordHasher extends PasswordHasher {
  readonly maxPasswordBytes = 4096;

  constructor() {
    super();
    if (process.env['NODE_ENV'] === 'test') return;
    throw new Error("CheapPasswordHasher is for tests, and NODE_ENV is not 'test'. Omit passwordHasher to use bcrypt.");
  }

  hash(password: string): Promise<string> {
    return Promise.resolve(`cheap$${sha256(password)}`);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    return this.accepts(hash) && timingSafeEqual(Buffer.from(await this.hash(password)), Buffer.from(hash));
  }

  accepts(hash: string): boolean {
    return /^cheap\$[0-9a-f]{64}$/.test(hash);
  }

  needsRehash(): boolean {
    return false;
  }
}

/** A clock for tests. Its time changes only when `advance` is called. */
export class DrivenClock extends Clock {
  /** @param at the initial time, in milliseconds since 1970. Default: 2026-01-15T10:23:00.123Z */
  constructor(private at: number = Date.UTC(2026, 0, 15, 10, 23, 0, 123)) {
    super();
  }

  now(): number {
    return this.at;
  }

  /** Moves the time forward by a number of milliseconds, or back by a negative number. */
  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}

/** A signal that was emitted. */
export type RecordedSignal = {
  readonly [Name in AuthSignalName]: { readonly name: Name; readonly payload: AuthSignals[Name] };
}[AuthSignalName];

const NAMES: Readonly<Record<AuthSignalName, true>> = {
  user_logged_in: true,
  user_logged_out: true,
  login_failed: true,
  login_blocked: true,
  token_reuse_detected: true,
  session_network_changed: true,
  lost_commits_suspected: true,
  session_limit_reached: true,
  brute_force_threshold_hit: true,
  password_changed: true,
  password_reset: true,
};

/** Records the signals that an application emits. */
export class SignalRecorder {
  /** The recorded signals, in the order of their emission. */
  readonly all: RecordedSignal[] = [];

  constructor(app: INestApplicationContext) {
    app.get(EventEmitter2, { strict: false }).onAny((name: string | string[], payload: unknown) => {
      if (typeof name === 'string' && Object.hasOwn(NAMES, name)) this.all.push({ name, payload } as RecordedSignal);
    });
  }

  /** Returns the payloads of one signal, in the order of their emission. */
  of<Name extends AuthSignalName>(name: Name): AuthSignals[Name][] {
    return this.all.filter((signal) => signal.name === name).map(({ payload }) => payload as AuthSignals[Name]);
  }

  /** Removes the recorded signals. */
  clear(): void {
    this.all.length = 0;
  }
}

/** Starts recording the signals of an application. Call it after `app.init()`. */
export function recordSignals(app: INestApplicationContext): SignalRecorder {
  return new SignalRecorder(app);
}
