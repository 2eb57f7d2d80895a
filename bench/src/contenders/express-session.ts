import { UnauthorizedException, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { createHmac, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { DAY_MS, times, type MakeContender } from './contender';
import { loadPeer } from './peer';
import { routeBehind } from './route';

interface Store {
  set(id: string, session: object, done: (error?: unknown) => void): void;
}
type ExpressSession = (options: object) => RequestHandler;
type ConnectPgSimple = (session: ExpressSession) => new (options: object) => Store;

const SECRET = 'a secret that protects nothing: benchmark only';

class LoggedInGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { session } = context.switchToHttp().getRequest<{ session: { userId?: string } }>();
    if (!session.userId) throw new UnauthorizedException();
    return true;
  }
}

/** express-session with its store for PostgreSQL. Every request reads the session and, by default, extends it. */
export const make: MakeContender = (setup) => {
  if (setup.database.type !== 'postgres')
    throw new Error('express-session is measured only on PostgreSQL. Set --databases postgres.');
  const session = loadPeer<ExpressSession>('express-session');
  const PgStore = loadPeer<ConnectPgSimple>('connect-pg-simple')(session);
  const pool = new Pool({ connectionString: String(setup.database.url) });
  const store = new PgStore({ pool, createTableIfMissing: true, pruneSessionInterval: false });
  const save = (id: string, data: object): Promise<void> =>
    new Promise((resolve, reject) =>
      store.set(id, data, (error) => (error ? reject(new Error('not saved', { cause: error })) : resolve())),
    );
  const cookie = { originalMaxAge: DAY_MS, expires: new Date(new Date().getTime() + DAY_MS), path: '/' };
  return Promise.resolve({
    module: { controllers: [routeBehind(new LoggedInGuard())] },
    configure(app) {
      app.use(session({ store, secret: SECRET, resave: false, saveUninitialized: false }));
    },
    async credentials() {
      const ids = times(setup.sessions, () => randomUUID());
      // The first call creates the table.
      for (const [index, id] of ids.entries()) await save(id, { cookie, userId: `u${index}` });
      return ids.map((id) => ({ cookie: `connect.sid=${encodeURIComponent(`s:${id}.${signatureOf(id)}`)}` }));
    },
  });
};

function signatureOf(id: string): string {
  return createHmac('sha256', SECRET).update(id).digest('base64').replace(/=+$/, '');
}
