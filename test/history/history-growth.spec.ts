import { HistoryGrowth } from '../../libs/auth/src/history/event-log';

describe('HistoryGrowth', () => {
  const countTimes = (growth: HistoryGrowth, owner: string | null, times: number): void => {
    for (let i = 0; i < times; i++) growth.count(owner);
  };

  it('reports a user each time the number of new events reaches the threshold, regardless of other users', () => {
    const growth = new HistoryGrowth(3);
    countTimes(growth, 'alice', 2);
    countTimes(growth, 'bob', 2);
    countTimes(growth, null, 3);
    expect(growth.takeOwnersOverThreshold()).toEqual([null]);
    countTimes(growth, 'alice', 5);
    expect(growth.takeOwnersOverThreshold()).toEqual(['alice']);
    expect(growth.takeOwnersOverThreshold()).toEqual([]);
    countTimes(growth, 'alice', 2);
    expect(growth.takeOwnersOverThreshold()).toEqual(['alice']);
  });

  it('keeps the counts of the 10,000 users with the most recent events', () => {
    const growth = new HistoryGrowth(2);
    growth.count('alice');
    for (let i = 0; i < 9_999; i++) growth.count(`user-${i}`);
    growth.count('alice');
    expect(growth.takeOwnersOverThreshold()).toEqual(['alice']);
    growth.count('bob');
    for (let i = 0; i < 10_000; i++) growth.count(`other-${i}`);
    growth.count('bob');
    expect(growth.takeOwnersOverThreshold()).toEqual([]);
  });
});
