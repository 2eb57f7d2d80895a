import type { AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/auth.module-definition';
import { Database } from '../../libs/auth/src/store/sql/database';
import { PooledDatabase } from '../../libs/auth/src/store/sql/pooled-database';
import { createDatabase, describeEachPooled, describeOn, type DatabaseName } from '../support/databases';
import { Host, PASSWORD, type HostOptions } from '../support/host';
import type { Call } from '../support/tap';
import { ENDS } from './deeds';
import {
  changeAgainstChange,
  deleteAgainstDelete,
  loginAgainstChange,
  loginAgainstLogin,
  refreshAgainstEnd,
  refreshAgainstItself,
  refreshAgainstPruning,
  type Setting,
} from './scenarios';
import { RaceStage } from './stage';

/** A gate of the code, how it is taken out of the statements, and a story that must then go wrong. */
interface Gate {
  readonly gate: string;
  readonly auth?: AuthModuleOptions;
  /** Tells whether it changed the statement. */
  readonly takeOut: (call: Call) => boolean;
  readonly story: (stage: RaceStage, setting: Setting) => Promise<number>;
}

/** Replaces part of the statements that begin so. The parameters stay in their places. */
function replace(begins: RegExp, part: RegExp, by: string | ((found: string) => string)): (call: Call) => boolean {
  return (call) => {
    if (!begins.test(call.sql) || !part.test(call.sql)) return false;
    call.sql = call.sql.replace(part, by as string);
    return true;
  };
}

const either =
  (...ways: ((call: Call) => boolean)[]) =>
  (call: Call): boolean =>
    ways.map((way) => way(call)).some(Boolean);

const always = (condition: string): string => `(${condition} OR 1 = 1)`;

const takeOutUserLock = (call: Call): boolean => {
  if (!/^INSERT INTO .auth_user_locks/.test(call.sql)) return false;
  Object.assign(call, { sql: 'SELECT 1', params: [] });
  return true;
};
const takeOutRowLocks = replace(/^SELECT.* FROM .auth_sessions/s, /FOR UPDATE( SKIP LOCKED)?/, '');
const logout = ENDS[0]!;

/** Any token of the family will do. PostgreSQL finds the session by nothing else; elsewhere it has been found before. */
const ofFamily = (condition: string): string => {
  const digest = /\$\d+/.exec(condition);
  const family = digest ? `s.id = (SELECT session_id FROM auth_refresh_tokens WHERE digest = ${digest[0]})` : '1 = 1';
  return `(${condition} OR ${family})`;
};

/** The update that is the gate of a rotation, on PostgreSQL as a part of one statement for all of it. */
const RENEWAL = /^(WITH won AS \(\s*)?UPDATE .auth_sessions.( AS s)? SET .refresh_digest/;

const GATES: readonly Gate[] = [
  {
    // Either of them is enough: the condition of the update, or the primary key of the used token.
    gate: 'the presented token in the condition of the rotation, and the key of the used one',
    takeOut: either(
      replace(RENEWAL, /(s\.)?.refresh_digest. = (\$\d+|\?)(?=\s*(AND|$))/, ofFamily),
      replace(/^WITH won/, /(?<=INSERT INTO .auth_refresh_tokens[^)]*\)\s*SELECT )\$\d+/, 'md5($&||random())'),
      (call) => {
        if (!/^INSERT INTO .auth_refresh_tokens/.test(call.sql)) return false;
        call.params[0] = `${String(call.params[0]).slice(0, 40)}${Math.random()}`.slice(0, 64);
        return true;
      },
    ),
    story: (stage, setting) => refreshAgainstItself(stage, setting, 0),
  },
  {
    gate: 'the state in the condition of the rotation',
    takeOut: replace(RENEWAL, /(s\.)?.state. = 'active'/, '1 = 1'),
    story: (stage, setting) => refreshAgainstEnd(stage, logout, setting),
  },
  {
    // On PostgreSQL a login need not hold the lock: it is enough that nobody has since it looked.
    gate: 'the lock of the user at a login under a limit, and its revision',
    auth: { sessionPolicy: 'single' },
    takeOut: either(
      takeOutUserLock,
      replace(/^WITH won AS \(\s*UPDATE .auth_user_locks/, /.revision. = \$\d+/, always),
    ),
    story: (stage, setting) => loginAgainstLogin(stage, setting, { limit: 1, before: 0, refusing: false }),
  },
  {
    gate: 'the lock of a session that ends',
    takeOut: takeOutRowLocks,
    story: deleteAgainstDelete,
  },
  {
    gate: 'the lock of a session that the clean-up ends',
    takeOut: takeOutRowLocks,
    story: refreshAgainstPruning,
  },
  {
    gate: 'the verified hash in the condition of the change',
    auth: { revokeOnPasswordChange: false },
    takeOut: replace(/^UPDATE .auth_users/, / = 1 OR /, ' <= 1 OR '),
    story: changeAgainstChange,
  },
  {
    gate: 'the version of the credentials at a login',
    takeOut: replace(/^UPDATE .auth_user_locks/, /.credentials_version. \+ 1/, '0'),
    story: loginAgainstChange,
  },
];

const SETTINGS: readonly Setting[] = [
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

async function failures(
  name: DatabaseName,
  { auth, takeOut, story }: Gate,
): Promise<{ red: unknown[]; mutations: number }> {
  const stage = await RaceStage.create(name, auth, takeOut);
  const red: unknown[] = [];
  try {
    for (const setting of SETTINGS) await story(stage, setting).catch((error: unknown) => red.push(error));
    return { red, mutations: stage.mutations };
  } finally {
    await stage.close();
  }
}

describeEachPooled('the stories of the races on %s go wrong without', (name) => {
  it.each(GATES)('$gate', async (gate) => {
    const { red, mutations } = await failures(name, gate);
    expect(mutations).toBeGreaterThan(0);
    expect(red.length).toBeGreaterThan(0);
    // It is the story that fails, not a statement that cannot be run.
    expect(red.map((error) => (error as { matcherResult?: unknown }).matcherResult !== undefined)).toContain(true);
  });
});

describeOn('sqlite')('on SQLite', () => {
  it('parallel logins go wrong when a unit gives up control within its transaction', async () => {
    const users = ['alice', 'bob', 'carol'];
    const failed = async (override?: HostOptions['override']): Promise<number> => {
      const database = await createDatabase('sqlite');
      const host = await Host.start({ database, users, ...(override ? { override } : {}) });
      const logins = users.map((username) => host.auth.login({ username, password: PASSWORD }));
      const outcomes = await Promise.allSettled(logins);
      await host.close();
      await database.drop();
      return outcomes.filter(({ status }) => status === 'rejected').length;
    };
    const yielding = await failed((module) =>
      module.overrideProvider(Database).useFactory({
        factory: (dataSource: DataSource) => new PooledDatabase(dataSource, 'sqlite'),
        inject: [AUTH_DATA_SOURCE],
      }),
    );
    expect(yielding).toBeGreaterThan(0);
    expect(await failed()).toBe(0);
  });
});
