import { DEFAULT_OPTIONS } from './defaults';
import { AuthOptionsError, resolveOptions } from './resolve-options';

const problems = (given: object, env = {}): readonly string[] => {
  try {
    resolveOptions(given, env);
    return [];
  } catch (error) {
    return (error as AuthOptionsError).problems;
  }
};

describe('the options', () => {
  it('are the defaults where nothing is written, and frozen through and through', () => {
    const options = resolveOptions();
    expect(options).toEqual(DEFAULT_OPTIONS);
    expect([options, options.failedLogins, options.hashing, options.history].every(Object.isFrozen)).toBe(true);
  });

  it.each([
    ['maxSessions', 1, 1000],
    ['accessTokenTtlSeconds', 60, 3600],
    ['bcryptCost', 10, 15],
  ])('%s is from %i to %i', (name, least, most) => {
    expect([problems({ [name]: least }), problems({ [name]: most })]).toEqual([[], []]);
    for (const value of [least - 1, most + 1, least + 0.5, String(least), NaN, null]) {
      expect(problems({ [name]: value })).toEqual([expect.stringContaining(`${name} is`)]);
    }
  });

  it('a cheap bcrypt is for tests alone', () => {
    expect(problems({ bcryptCost: 4 }, { NODE_ENV: 'test' })).toEqual([]);
    expect(problems({ bcryptCost: 4 }, { NODE_ENV: 'production' })).toHaveLength(1);
    expect(problems({ bcryptCost: 3 }, { NODE_ENV: 'test' })).toHaveLength(1);
  });

  it('bound each other', () => {
    expect(problems({ refreshTokenTtlSeconds: 101, absoluteTimeoutSeconds: 100 })).toHaveLength(1);
    expect(problems({ idleTimeoutSeconds: 101, absoluteTimeoutSeconds: 100 })).toHaveLength(1);
    expect(problems({ idleTimeoutSeconds: 100, activityIntervalSeconds: 26 })).toHaveLength(1);
    expect(resolveOptions({ absoluteTimeoutSeconds: 3600 })).toMatchObject({
      refreshTokenTtlSeconds: 3600,
      idleTimeoutSeconds: 3600,
    });
    expect(resolveOptions({ refreshTokenTtlSeconds: 100 })).toMatchObject({
      idleTimeoutSeconds: 100,
      activityIntervalSeconds: 25,
    });
  });

  it('are told wrong all at once, each with what to write', () => {
    const given = {
      maxsessions: 3,
      path: 'x',
      failedLogins: { signalAt: 0, what: 1 },
      users: {},
      history: 3,
      trackIps: 1,
    };
    expect(problems(given)).toEqual([
      'maxsessions is no option; write maxSessions',
      'path shapes the module; write it beside `useFactory`, not in what the factory gives',
      'failedLogins.what is no option',
      'history is 3; write an object with retentionDays, maxRowsPerUser',
      'trackIps is 1; write true or false',
      'failedLogins.signalAt is 0; write a whole number of at least 1',
      expect.stringContaining('users is {}; write { entity: User'),
    ]);
  });
});
