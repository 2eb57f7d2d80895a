import { figure, type Scenario } from './scenario';
import { notRun, render, worst, type Result } from './table';

const scenario: Scenario = {
  ...{ name: 'failover', cluster: 'PostgreSQL', title: 'the primary is killed' },
  run: () => Promise.reject(new Error('Nothing is run here.')),
};

const result = (lost: number, served: number | null): Result => {
  const figures = [figure('lost', lost, 0), figure('503', 12, null), figure('served, s', served, 10)];
  return { scenario, outcomes: [{ subject: 'spread', figures, details: [] }] };
};

it('the table of the cluster suite contains each figure, and shows the targets that are not met', () => {
  expect(render([result(0, 1.5), result(2, null)]).split('\n')).toEqual([
    '| Cluster | What happens | Clients | lost | 503 | served, s | Passed |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    '| PostgreSQL | the primary is killed | spread | 0 | 12 | 1.5 | yes |',
    '| PostgreSQL | the primary is killed | spread | **2** (target: 0) | 12 | **never** (target: 10) | **no** |',
  ]);
});

it('the table of several runs contains the worst result: the highest figure, never, or a failure to run', () => {
  const figures = (...runs: Result[]): unknown =>
    worst(runs.map((run) => [run]))[0]!.outcomes[0]!.figures.map(({ value }) => value);
  expect(figures(result(0, 1.5), result(3, 0.2), result(1, 9))).toEqual([3, 12, 9]);
  expect(figures(result(0, null), result(0, 2))).toEqual([0, 12, null]);
  expect(worst([[result(0, 1)], [notRun(scenario)]])).toEqual([notRun(scenario)]);
});
