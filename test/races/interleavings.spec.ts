import type { AuthModuleOptions } from 'nestjs-session-auth';
import { DATABASES, type DatabaseName } from '../support/databases';
import { ENDS, EVICTION } from './deeds';
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

const SETTINGS: readonly Setting[] = [
  { instances: 1, held: 'first' },
  { instances: 1, held: 'second' },
  { instances: 2, held: 'first' },
  { instances: 2, held: 'second' },
];

const WORDS = { first: 'the former', second: 'the latter' } as const;

/** One story in every setting: in one instance and over two, each side held at every one of its calls to the database. */
function everywhere(
  name: DatabaseName,
  auth: AuthModuleOptions,
  stories: Readonly<Record<string, (stage: RaceStage, setting: Setting) => Promise<number>>>,
): void {
  let stage: RaceStage;
  beforeAll(async () => {
    stage = await RaceStage.create(name, auth);
  });
  afterAll(() => stage.close());

  describe.each(SETTINGS)('in $instances instance(s), $held side held', (setting) => {
    it.each(Object.entries(stories))(`%s (${WORDS[setting.held]} held at every await)`, async (_, run) => {
      const interleavings = await run(stage, setting);
      // On SQLite a unit is one step; elsewhere each statement is one, and on PostgreSQL a refresh has one.
      expect(interleavings).toBeGreaterThanOrEqual({ sqlite: 1, postgres: 1, mariadb: 4 }[name]);
    });
  });
}

describe.each(DATABASES)('forced interleavings on %s', (name) => {
  everywhere(
    name,
    {},
    {
      ...Object.fromEntries(
        ENDS.map((deed) => [
          `a refresh beside a ${deed.name}: the session is over in the end`,
          (stage: RaceStage, setting: Setting) => refreshAgainstEnd(stage, deed, setting),
        ]),
      ),
      'a refresh beside the same refresh: one pair, then reuse': (stage, setting) =>
        refreshAgainstItself(stage, setting, 0),
      'two deletions of one session: one of them ends it': deleteAgainstDelete,
      'two changes of password: one wins': changeAgainstChange,
      'a login with the old password beside its change: nothing of it is left': loginAgainstChange,
      'a refresh beside a clean-up to which the session looks idle: one of them has it': refreshAgainstPruning,
    },
  );
});

describe.each(DATABASES)('forced interleavings where a change of password ends no session on %s', (name) => {
  everywhere(
    name,
    { revokeOnPasswordChange: false },
    {
      'two changes of password: one wins': changeAgainstChange,
    },
  );
});

describe.each(DATABASES)('forced interleavings within a grace period on %s', (name) => {
  everywhere(
    name,
    { refreshReuseGraceSeconds: 10 },
    {
      'a refresh beside the same refresh: one pair for both': (stage, setting) =>
        refreshAgainstItself(stage, setting, 10),
    },
  );
});

describe.each(DATABASES)('forced interleavings under the policy `single` on %s', (name) => {
  const one = { limit: 1, refusing: false };
  everywhere(
    name,
    { sessionPolicy: 'single' },
    {
      [`a refresh beside an ${EVICTION.name}: the session is over in the end`]: (stage, setting) =>
        refreshAgainstEnd(stage, EVICTION, setting),
      'the very first two logins of a user: one session': (stage, setting) =>
        loginAgainstLogin(stage, setting, { ...one, before: 0 }),
      'two more logins: one session': (stage, setting) => loginAgainstLogin(stage, setting, { ...one, before: 1 }),
    },
  );
});

describe.each(DATABASES)('forced interleavings under the policy `max_count` on %s', (name) => {
  everywhere(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3 },
    {
      'two logins with room for one: three sessions': (stage, setting) =>
        loginAgainstLogin(stage, setting, { limit: 3, before: 2, refusing: false }),
    },
  );
});

describe.each(DATABASES)('forced interleavings at a limit that refuses on %s', (name) => {
  everywhere(
    name,
    { sessionPolicy: 'max_count', maxSessions: 3, onSessionLimit: 'reject' },
    {
      'two logins with room for one: one is refused': (stage, setting) =>
        loginAgainstLogin(stage, setting, { limit: 3, before: 2, refusing: true }),
      'the very first two logins of a user: both': (stage, setting) =>
        loginAgainstLogin(stage, setting, { limit: 3, before: 0, refusing: true }),
    },
  );
});
