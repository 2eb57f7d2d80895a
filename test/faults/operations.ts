import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { AuthService, Public, SecondFactor, type ClientInfo } from 'nestjs-session-auth';
import { compare } from 'bcrypt';
import type { Response } from 'supertest';
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

export class SecondFactorOfSome extends SecondFactor {
  isRequired(_: unknown, { userAgent }: ClientInfo): boolean {
    return userAgent === NEEDS_SECOND_FACTOR;
  }
}

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

/** A request that changes the database, and the status of its response without a fault. */
export interface Operation {
  readonly name: string;
  readonly status: number;
  /** Whether the change is committed without its event if the event cannot be written. */
  readonly isRevocation: boolean;
  readonly run: (fixture: Fixture) => Promise<Response>;
}

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'a login',
    status: 200,
    isRevocation: false,
    run: async ({ app, username }) => app.http.post('/auth/login').send({ username, password: PASSWORD }),
  },
  {
    name: 'a login that needs a second factor',
    status: 403,
    isRevocation: false,
    run: async ({ app, username }) =>
      app.http.post('/auth/login').set('User-Agent', NEEDS_SECOND_FACTOR).send({ username, password: PASSWORD }),
  },
  {
    name: 'a login by ticket',
    status: 200,
    isRevocation: false,
    run: async ({ app, ticket }) => app.http.post('/ticket').send({ ticket }),
  },
  {
    name: 'a refresh',
    status: 200,
    isRevocation: false,
    run: async ({ app, session }) => app.refresh(session.refresh_token),
  },
  {
    name: 'a logout',
    status: 200,
    isRevocation: true,
    run: async ({ app, session }) => app.post('/auth/logout', session.access_token),
  },
  {
    name: 'the reuse of a refresh token',
    status: 400,
    isRevocation: true,
    run: async ({ app, usedToken }) => app.refresh(usedToken),
  },
  {
    name: 'a password change',
    status: 200,
    isRevocation: false,
    run: async ({ app, session }) =>
      app.post('/auth/password/change', session.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      }),
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

/** Returns row counts of one user. Equal counts mean equal states. */
export async function countsOf({ app, userId, credentialsVersion }: Fixture): Promise<Record<string, unknown>> {
  const ofUser = `user_id = '${userId}'`;
  const rows = await rowsOf(
    app,
    `SELECT 'sessions' AS part, state AS name, COUNT(*) AS n FROM auth_sessions WHERE ${ofUser} GROUP BY state
     UNION ALL SELECT 'generations', 'sum', SUM(generation) FROM auth_sessions WHERE ${ofUser}
     UNION ALL SELECT 'events', event, COUNT(*) FROM auth_events WHERE ${ofUser} GROUP BY event
     UNION ALL SELECT 'tickets', 'tickets', COUNT(*) FROM auth_login_tickets WHERE ${ofUser}
     UNION ALL SELECT 'credentials', 'changed', CASE WHEN credentials_version = ${credentialsVersion} THEN 0 ELSE 1 END
       FROM auth_user_locks WHERE ${ofUser}
     UNION ALL SELECT 'password', password_hash, 0 FROM auth_users WHERE id = '${userId}'`,
  );
  const countsIn = (part: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.part === part).map(({ name, n }) => [name, Number(n)]));
  return {
    sessions: countsIn('sessions'),
    generations: countsIn('generations'),
    events: countsIn('events'),
    tickets: countsIn('tickets'),
    credentials: countsIn('credentials'),
    password: await compare(PASSWORD, rows.find(({ part }) => part === 'password')!.name),
  };
}

interface Count {
  readonly part: string;
  readonly name: string;
  readonly n: number | string;
}

/** The pool may still contain connections that were cut. */
async function rowsOf(app: TestApplication, sql: string, tries = 10): Promise<Count[]> {
  try {
    return await app.dataSource.query<Count[]>(sql);
  } catch (error) {
    if (tries === 0) throw error;
    return rowsOf(app, sql, tries - 1);
  }
}
