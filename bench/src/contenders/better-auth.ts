import type { DynamicModule } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { timesAsync, type MakeContender } from './contender';
import { loadPeer } from './peer';
import { routeBehind } from './route';
import { openSqliteFile } from './sqlite-driver';

interface InternalAdapter {
  createUser(user: object): Promise<{ id: string }>;
  createSession(userId: string): Promise<{ token: string }>;
}
interface BetterAuth {
  readonly options: object;
  readonly $context: Promise<{
    readonly internalAdapter: InternalAdapter;
    readonly authCookies: { readonly sessionToken: { readonly name: string } };
  }>;
}
interface BetterAuthPackage {
  readonly betterAuth: (options: object) => BetterAuth;
}
interface Migrations {
  readonly getMigrations: (options: object) => Promise<{ runMigrations(): Promise<void> }>;
}
interface Wrapper {
  readonly AuthModule: { forRoot(options: { auth: BetterAuth }): DynamicModule };
}

const SECRET = 'a secret that protects nothing: benchmark only';

/** better-auth with its Nest wrapper, whose global guard calls `getSession`. All options have their defaults. */
export const make: MakeContender = async (setup) => {
  const { betterAuth } = loadPeer<BetterAuthPackage>('better-auth');
  const { getMigrations } = loadPeer<Migrations>('better-auth/db/migration');
  const { AuthModule } = loadPeer<Wrapper>('@thallesp/nestjs-better-auth');
  const auth = betterAuth({
    database: connect(setup.database),
    secret: SECRET,
    baseURL: 'http://127.0.0.1',
    telemetry: { enabled: false },
  });
  await (await getMigrations(auth.options)).runMigrations();
  const { internalAdapter, authCookies } = await auth.$context;
  return {
    module: { imports: [AuthModule.forRoot({ auth })], controllers: [routeBehind()] },
    app: { bodyParser: false },
    credentials: () =>
      timesAsync(setup.sessions, async (index) => {
        const user = await internalAdapter.createUser({ name: `user ${index}`, email: `user${index}@example.org` });
        const { token } = await internalAdapter.createSession(user.id);
        const signature = createHmac('sha256', SECRET).update(token).digest('base64');
        return { cookie: `${authCookies.sessionToken.name}=${encodeURIComponent(`${token}.${signature}`)}` };
      }),
  };
};

function connect(database: DataSourceOptions): object {
  if (database.type === 'postgres') return new Pool({ connectionString: String(database.url) });
  if (database.type === 'better-sqlite3') return openSqliteFile(String(database.database));
  return createPool({ uri: (database as { url: string }).url, timezone: 'Z' });
}
