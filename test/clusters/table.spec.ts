import { figure, type Outcome, type Scenario } from './scenario';
import { notRun, render, worst, type Result } from './table';

const scenario: Scenario = {
  name: 'failover',
  cluster: 'PostgreSQL',
  title: 'the primary is killed',
  run: () => Promise.reject(new Error('Nothing is run here.')),
};

const outcome = (lost: number, served: number | null): Outcome => ({
  subject: 'spread',
  figures: [figure('lost', lost, 0), figure('503', 12, null), figure('served, s', served, 10)],
  details: [],
});

const result = (lost: number, served: number | null): Result => ({ scenario, outcomes: [outcome(lost, served)] });

describe('the table of the cluster suite', () => {
  it('the table contains each figure, and shows that all targets are met', () => {
    expect(render([result(0, 1.5)])).toBe(
      [
        '| Cluster | What happens | Clients | lost | 503 | served, s | Passed |',
        '| --- | --- | --- | --- | --- | --- | --- |',
        '| PostgreSQL | the primary is killed | spread | 0 | 12 | 1.5 | yes |',
      ].join('\n'),
    );
  });

  it('the table shows the target that is not met', () => {
    expect(render([result(2, null)])).toContain('| **2** (target: 0) | 12 | **never** (target: 10) | **no** |');
  });

  it('the table of several runs contains the worst result: the highest figure, or never', () => {
    const [merged] = worst([[result(0, 1.5)], [result(3, 0.2)], [result(1, 9)]]);
    expect(merged!.outcomes[0]!.figures.map(({ value }) => value)).toEqual([3, 12, 9]);
    const [failed] = worst([[result(0, 1)], [notRun(scenario)]]);
    expect(failed).toEqual(notRun(scenario));
    const [never] = worst([[result(0, null)], [result(0, 2)]]);
    expect(never!.outcomes[0]!.figures.at(-1)!.value).toBeNull();
  });
});
