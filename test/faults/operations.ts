import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { AuthService, Public } from 'nestjs-session-auth';
import { compare } from 'bcrypt';
import type { Test } from 'supertest';
import { secondFactorIf } from '../support/second-factor';
import { PASSWORD, type TestApplication, type LoginAnswer } from '../support/test-application';

/** A user with two sessions, of which one was refreshed once. */
export interface Fixture {
  readonly app: TestApplication;
  readonly userId: string;
  readonly username: string;
  /** The version of the user's credentials at the beginning. */
  readonly credentialsVersion: number;
  readonly session: LoginAnswer;
  readonly usedToken: string;
  /** A login ticket with two proven methods. */
  readonly ticket: string;
}

/** The User-Agent of logins that need a second factor. */
const NEEDS_SECOND_FACTOR = 'needs a second factor';

export const SECOND_FACTOR_OF_SOME = secondFactorIf((_, { userAgent }) => userAgent === NEEDS_SECOND_FACTOR);

@Controller('ticket')
export class TicketController {
  constructor(private readonly auth: AuthService) {}

  @Public()
  @Post()
  @HttpCode(200)
  async open(@Body() { ticket }: { ticket: string }): Promise<object> {
    const { accessToken, refreshToken } = await this.auth.openSession({ ticket });
    return { access_token: accessToken, refresh_token: refreshToken };
  }
}

/** A request that changes the database. */
export interface Operation {
  readonly name: string;
  /** The status of the response without a fault. Default: 200. */
  readonly status?: number;
  /** Whether the change is committed without its event if the event cannot be written. Default: false. */
  readonly isRevocation?: boolean;
  readonly isRepeatable?: boolean;
  readonly run: (fixture: Fixture) => Test;
}

const login = ({ app, username }: Fixture): Test => app.http.post('/auth/login').send({ username, password: PASSWORD });

/** A change whose repetition finds out that the lost COMMIT succeeded. */
const repeatable = (name: string, run: Operation['run']): Operation => ({ name, isRepeatable: true, run });

export const OPERATIONS: readonly Operation[] = [
  repeatable('a login', login),
  {
    ...repeatable('a login that needs a second factor', (fixture) =>
      login(fixture).set('User-Agent', NEEDS_SECOND_FACTOR),
    ),
    status: 403,
  },
  repeatable('a login by ticket', ({ app, ticket }) => app.http.post('/ticket').send({ ticket })),
  repeatable('a refresh', ({ app, session }) => app.refresh(session.refresh_token)),
  repeatable('a reauthentication', ({ app, session }) =>
    app.post('/auth/reauthenticate', session.access_token, { password: PASSWORD }),
  ),
  { name: 'a logout', isRevocation: true, run: ({ app, session }) => app.post('/auth/logout', session.access_token) },
  {
    name: 'the reuse of a refresh token',
    status: 400,
    isRevocation: true,
    run: ({ app, usedToken }) => app.refresh(usedToken),
  },
  {
    name: 'a password change',
    run: ({ app, session }) => {
      const passwords = { current_password: PASSWORD, new_password: 'a password that is new' };
      return app.post('/auth/password/change', session.access_token, passwords);
    },
  },
];

let users = 0;

export async function newFixture(app: TestApplication): Promise<Fixture> {
  const username = `user ${users++}`;
  const { id } = await app.auth.createUser({ username, password: PASSWORD });
  await app.auth.openSession(id);
  const opened = await app.login(username);
  const { body } = await app.refresh(opened.refresh_token).expect(200);
  const ticket = await app.auth.createLoginTicket(id, { methods: ['pwd', 'otp'] });
  app.signals.length = 0;
  const [lock] = await app.dataSource.query<{ version: number }[]>(
    `SELECT credentials_version AS version FROM auth_user_locks WHERE user_id = '${id}'`,
  );
  return {
    app,
    userId: String(id),
    credentialsVersion: lock!.version,
    username,
    session: { ...opened, ...body },
    usedToken: opened.refresh_token,
    ticket,
  };
}

/** Returns row counts of one user by part and name. Equal counts mean equal states. */
export async function countsOf({ app, userId, credentialsVersion }: Fixture): Promise<Record<string, unknown>> {
  const ofUser = `user_id = '${userId}'`;
  const rows = await untilReconnected(() =>
    app.dataSource.query<{ part: string; name: string; n: number | string }[]>(
      `SELECT 'sessions' AS part, state AS name, COUNT(*) AS n FROM auth_sessions WHERE ${ofUser} GROUP BY state
       UNION ALL SELECT 'generations', 'sum', SUM(generation) FROM auth_sessions WHERE ${ofUser}
       UNION ALL SELECT 'events', event, COUNT(*) FROM auth_events WHERE ${ofUser} GROUP BY event
       UNION ALL SELECT 'tickets', 'tickets', COUNT(*) FROM auth_login_tickets WHERE ${ofUser}
       UNION ALL SELECT 'credentials', 'changed', CASE WHEN credentials_version = ${credentialsVersion} THEN 0 ELSE 1 END
         FROM auth_user_locks WHERE ${ofUser}
       UNION ALL SELECT 'password', password_hash, 0 FROM auth_users WHERE id = '${userId}'`,
    ),
  );
  const counts: Record<string, Record<string, unknown>> = {};
  for (const { part, name, n } of rows) {
    if (part === 'password') counts[part] = { isOld: await compare(PASSWORD, name) };
    else counts[part] = { ...counts[part], [name]: Number(n) };
  }
  return counts;
}

/** Returns the names of the signals since the fixture was created. */
export const signalsOf = ({ app }: Fixture): string[] => app.signals.map(({ name }) => name).sort();

/** Repeats a read while the pool still contains connections that were cut. */
export async function untilReconnected<T>(read: () => Promise<T>, tries = 10): Promise<T> {
  return read().catch((error: unknown) => {
    if (tries === 0) throw error;
    return untilReconnected(read, tries - 1);
  });
}
