import type { Response } from 'supertest';
import { PASSWORD, type Host, type LoginAnswer } from '../support/host';

/** A user with a session that was refreshed once, and another one. */
export interface Scene {
  readonly host: Host;
  readonly userId: string;
  readonly username: string;
  readonly session: LoginAnswer;
  readonly usedToken: string;
}

/** A request that changes something, and the status it has when nothing fails. */
export interface Deed {
  readonly name: string;
  readonly status: number;
  /** Whether it is done without its row in the log, when that cannot be written. */
  readonly isRevocation: boolean;
  readonly run: (scene: Scene) => Promise<Response>;
}

export const DEEDS: readonly Deed[] = [
  {
    name: 'a login',
    status: 200,
    isRevocation: false,
    run: async ({ host, username }) => host.http.post('/auth/login').send({ username, password: PASSWORD }),
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
    name: 'a reuse',
    status: 400,
    isRevocation: true,
    run: async ({ host, usedToken }) => host.refresh(usedToken),
  },
  {
    name: 'a change of password',
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

export async function setTheScene(host: Host): Promise<Scene> {
  const username = `user ${users++}`;
  const { id } = await host.auth.createUser({ username, password: PASSWORD });
  await host.auth.openSession(id);
  const opened = await host.login(username);
  const { body } = await host.refresh(opened.refresh_token).expect(200);
  host.signals.length = 0;
  return { host, userId: String(id), username, session: { ...opened, ...body }, usedToken: opened.refresh_token };
}

/** How much there is of everything of one user: two states are the same if they are told alike. */
export async function census({ host, userId }: Scene): Promise<Record<string, unknown>> {
  // Connections that were cut may still lie in the pool.
  const ask = (sql: string, tries = 10): Promise<Record<string, unknown>[]> =>
    host.dataSource.query<Record<string, unknown>[]>(sql).catch((error: unknown) => {
      if (tries === 0) throw error;
      return ask(sql, tries - 1);
    });
  const query = async (sql: string): Promise<Record<string, number>> => {
    const rows = await ask(sql);
    return Object.fromEntries(rows.map(({ name, n }) => [String(name), Number(n)]));
  };
  const ofUser = `user_id = '${userId}'`;
  const sessions = `SELECT id FROM auth_sessions WHERE ${ofUser}`;
  const [user] = await ask(`SELECT password_hash FROM auth_users WHERE id = '${userId}'`);
  return {
    sessions: await query(`SELECT state AS name, COUNT(*) AS n FROM auth_sessions WHERE ${ofUser} GROUP BY state`),
    generations: await query(`SELECT 'sum' AS name, SUM(generation) AS n FROM auth_sessions WHERE ${ofUser}`),
    retired: await query(
      `SELECT state AS name, COUNT(*) AS n FROM auth_refresh_tokens WHERE session_id IN (${sessions}) GROUP BY state`,
    ),
    events: await query(`SELECT event AS name, COUNT(*) AS n FROM auth_events WHERE ${ofUser} GROUP BY event`),
    credentials: await query(`SELECT 'version' AS name, credentials_version AS n FROM auth_user_locks WHERE ${ofUser}`),
    password: await isPassword(String(user!['password_hash'])),
  };
}

async function isPassword(hash: string): Promise<boolean> {
  const { compare } = await import('bcrypt');
  return compare(PASSWORD, hash);
}
