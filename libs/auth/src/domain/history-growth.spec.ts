import { HistoryGrowth } from './history-growth';

describe('the growth of histories', () => {
  const countTimes = (growth: HistoryGrowth, owner: string | null, times: number): void => {
    for (let i = 0; i < times; i++) growth.count(owner);
  };

  it('makes a user due each time that so many events were counted, whoever else had some in between', () => {
    const growth = new HistoryGrowth(3);
    countTimes(growth, 'alice', 2);
    countTimes(growth, 'bob', 2);
    countTimes(growth, null, 3);
    expect(growth.takeDue()).toEqual([null]);
    countTimes(growth, 'alice', 5);
    expect(growth.takeDue()).toEqual(['alice']);
    expect(growth.takeDue()).toEqual([]);
    countTimes(growth, 'alice', 2);
    expect(growth.takeDue()).toEqual(['alice']);
  });

  it('is remembered of the 10,000 users with the latest events', () => {
    const growth = new HistoryGrowth(2);
    growth.count('alice');
    for (let i = 0; i < 9_999; i++) growth.count(`user-${i}`);
    growth.count('alice');
    expect(growth.takeDue()).toEqual(['alice']);
    growth.count('bob');
    for (let i = 0; i < 10_000; i++) growth.count(`other-${i}`);
    growth.count('bob');
    expect(growth.takeDue()).toEqual([]);
  });
});
