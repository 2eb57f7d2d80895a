import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { AuthService, Public, SecondFactor, type ClientInfo } from 'nestjs-session-auth';
import type { Response } from 'supertest';
import { PASSWORD, type Host, type LoginAnswer } from '../support/host';

/** A user with a session that was refreshed once, and another one. */
export interface Fixture {
  readonly host: Host;
  readonly userId: string;
  readonly username: string;
  readonly session: LoginAnswer;
  readonly usedToken: string;
  /** A login ticket with two methods. */
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

/** A request that changes something, and the status it has when nothing fails. */
export interface Operation {
  readonly name: string;
  readonly status: number;
  /** Whether it is committed without its event where that cannot be written. */
  readonly isRevocation: boolean;
  readonly run: (fixture: Fixture) => Promise<Response>;
}

export const OPERATIONS: readonly Operation[] = [
  {
    name: 'a login',
    status: 200,
    isRevocation: false,
    run: async ({ host, username }) => host.http.post('/auth/login').send({ username, password: PASSWORD }),
  },
  {
    name: 'a login that needs a second factor',
    status: 403,
    isRevocation: false,
    run: async ({ host, username }) =>
      host.http.post('/auth/login').set('User-Agent', NEEDS_SECOND_FACTOR).send({ username, password: PASSWORD }),
  },
  {
    name: 'a login by ticket',
    status: 200,
    isRevocation: false,
    run: async ({ host, ticket }) => host.http.post('/ticket').send({ ticket }),
  },
  {
    name: 'a refresh',
    status: 200,
    isRevocation: false,
    run: async ({ host, session }) => host.refresh(session.refresh_token),
  },
  {
    name: 'a logout',
    status: 200,
    isRevocation: true,
    run: async ({ host, session }) => host.post('/auth/logout', session.access_token),
  },
  {
    name: 'the reuse of a refresh token',
    status: 400,
    isRevocation: true,
    run: async ({ host, usedToken }) => host.refresh(usedToken),
  },
  {
    name: 'a password change',
    status: 200,
    isRevocation: false,
    run: async ({ host, session }) =>
      host.post('/auth/password/change', session.access_token, {
        current_password: PASSWORD,
        new_password: 'a password that is new',
      }),
  },
];

let users = 0;

export async function newFixture(host: Host): Promise<Fixture> {
  const username = `user ${users++}`;
  const { id } = await host.auth.createUser({ username, password: PASSWORD });
  await host.auth.openSession(id);
  const opened = await host.login(username);
  const { body } = await host.refresh(opened.refresh_token).expect(200);
  const ticket = await host.auth.createLoginTicket(id, { methods: ['pwd', 'otp'] });
  host.signals.length = 0;
  return {
    host,
    userId: String(id),
    username,
    session: { ...opened, ...body },
    usedToken: opened.refresh_token,
    ticket,
  };
}

/** What is stored of one user, counted: equal counts are equal states. */
export async function countsOf({ host, userId }: Fixture): Promise<Record<string, unknown>> {
  // The pool may still hold connections that were cut.
  const rowsOf = (sql: string, tries = 10): Promise<Record<string, unknown>[]> =>
    host.dataSource.query<Record<string, unknown>[]>(sql).catch((error: unknown) => {
      if (tries === 0) throw error;
      return rowsOf(sql, tries - 1);
    });
  const query = async (sql: string): Promise<Record<string, number>> => {
    const rows = await rowsOf(sql);
    return Object.fromEntries(rows.map(({ name, n }) => [String(name), Number(n)]));
  };
  const ofUser = `user_id = '${userId}'`;
  const [user] = await rowsOf(`SELECT password_hash FROM auth_users WHERE id = '${userId}'`);
  return {
    sessions: await query(`SELECT state AS name, COUNT(*) AS n FROM auth_sessions WHERE ${ofUser} GROUP BY state`),
    generations: await query(`SELECT 'sum' AS name, SUM(generation) AS n FROM auth_sessions WHERE ${ofUser}`),
    events: await query(`SELECT event AS name, COUNT(*) AS n FROM auth_events WHERE ${ofUser} GROUP BY event`),
    tickets: await query(`SELECT 'tickets' AS name, COUNT(*) AS n FROM auth_login_tickets WHERE ${ofUser}`),
    credentials: await query(`SELECT 'version' AS name, credentials_version AS n FROM auth_user_locks WHERE ${ofUser}`),
    password: await isPassword(String(user!['password_hash'])),
  };
}

async function isPassword(hash: string): Promise<boolean> {
  const { compare } = await import('bcrypt');
  return compare(PASSWORD, hash);
}
