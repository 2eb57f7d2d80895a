import type { DataSourceOptions } from 'typeorm';
import { sqliteDriver } from './sqlite-driver';

export interface SampleUser {
  readonly username: string;
  readonly password: string;
}

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly database: DataSourceOptions;
  /** The database as the console shows it, without the password. */
  readonly databaseShown: string;
  readonly users: readonly SampleUser[];
  /** The names of the users who may act as other users. */
  readonly admins: readonly string[];
  readonly usersAreDefault: boolean;
  /** Users with published passwords. The application does not start if such a user is stored with the password. */
  readonly refusedUsers: readonly SampleUser[];
  readonly authOptions: Record<string, unknown>;
  /** The origin of the API, or null for the origin of the page. */
  readonly apiOrigin: string | null;
}

/** The error of an invalid environment variable. The message says what to write instead. */
export class SettingsError extends Error {}

/** The addresses that only this computer can reach. */
const LOCAL_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '::1'];

const DEFAULT_USERS = 'alice:secret,bob:secret';

/** Reads the settings from environment variables. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const host = env['HOST'] || '127.0.0.1';
  const isLocal = LOCAL_HOSTS.includes(host);
  if (!env['SAMPLE_USERS'] && !isLocal) {
    throw new SettingsError(
      `HOST is '${host}', so other computers could log in with the default passwords; set your own users, ` +
        `such as SAMPLE_USERS=alice:<password>, or unset HOST`,
    );
  }
  const isProduction = env['NODE_ENV'] === 'production';
  if (!env['SAMPLE_USERS'] && isProduction) {
    throw new SettingsError(
      `NODE_ENV is 'production', and the default passwords are published; set your own users, ` +
        `such as SAMPLE_USERS=alice:<password>, or unset NODE_ENV`,
    );
  }
  return {
    host,
    port: readPort(env['PORT'] || '3000'),
    ...readDatabase(env['DATABASE_URL'] || 'sqlite:sample.sqlite'),
    users: readUsers(env['SAMPLE_USERS'] || DEFAULT_USERS),
    admins: readAdmins(env),
    usersAreDefault: !env['SAMPLE_USERS'],
    refusedUsers: readUsers(DEFAULT_USERS).filter(() => isProduction || !isLocal),
    authOptions: withCookies(readAuthOptions(env['AUTH_OPTIONS'] || '{}'), isProduction),
    apiOrigin: env['API_ORIGIN'] ? readOrigin(env['API_ORIGIN']) : null,
  };
}

function readAdmins(env: Readonly<Record<string, string | undefined>>): string[] {
  const byDefault = env['SAMPLE_USERS'] ? '' : 'alice';
  return (env['SAMPLE_ADMINS'] ?? byDefault).split(',').filter(Boolean);
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new SettingsError(`PORT is '${text}'; use a number from 0 to 65535, such as PORT=3000`);
}

function readDatabase(text: string): Pick<Settings, 'database' | 'databaseShown'> {
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1];
  if (path) {
    return {
      database: {
        type: 'better-sqlite3',
        driver: sqliteDriver(),
        database: path,
        enableWAL: path !== ':memory:',
      },
      databaseShown: path === ':memory:' ? 'SQLite, in memory' : `SQLite, ${path}; delete the file to start over`,
    };
  }
  const kind = /^(postgres(?:ql)?|mysql|mariadb):\/\//.exec(text)?.[1];
  if (!kind || !URL.canParse(text)) {
    throw new SettingsError(
      'DATABASE_URL is not a supported database URL; write sqlite:<path>, postgres://user:password@host:5432/name or ' +
        'mysql://user:password@host:3306/name',
    );
  }
  const { host, pathname } = new URL(text);
  const isPostgres = kind.startsWith('postgres');
  const database: DataSourceOptions = isPostgres
    ? { type: 'postgres', url: text }
    : { type: 'mysql', url: text.replace(/^mariadb:/, 'mysql:') };
  return { database, databaseShown: `${isPostgres ? 'PostgreSQL' : 'MySQL or MariaDB'}, ${host}${pathname}` };
}

/** Reads `name:password,name:password`. A password may contain a colon, but not a comma. */
function readUsers(text: string): SampleUser[] {
  return text.split(',').map((pair) => {
    const colon = pair.indexOf(':');
    const username = pair.slice(0, colon);
    const password = pair.slice(colon + 1);
    if (colon < 1 || password === '') {
      throw new SettingsError(`SAMPLE_USERS is not a list of users; use the form ${DEFAULT_USERS}`);
    }
    return { username, password };
  });
}

function readAuthOptions(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The error below reports invalid JSON as well.
  }
  throw new SettingsError(`AUTH_OPTIONS is not a JSON object; use the form '{"sessionPolicy":"single"}'`);
}

/**
 * Adds the sample's cookie options, which `AUTH_OPTIONS` can override. Cookies are `Secure` in
 * production only, because localhost has no TLS.
 */
function withCookies(options: Record<string, unknown>, isSecure: boolean): Record<string, unknown> {
  const { cookies = {} } = options;
  if (typeof cookies !== 'object' || cookies === null) return options;
  return { ...options, cookies: { mode: 'optional', secure: isSecure, ...cookies } };
}

function readOrigin(text: string): string {
  if (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text) return text;
  throw new SettingsError(`API_ORIGIN is '${text}'; use an origin, such as http://api.example.localhost:3000`);
}
