import { median, medianInterval } from '../../bench/src/measure/statistics';

const RATIOS = [0.97, 1.02, 0.99, 1.01, 1, 1.05, 0.96, 1.03, 0.98, 1, 1.01, 0.99, 1.02, 0.95, 1.04];

it.each([
  [[3, 1, 2], 2],
  [[4, 1, 3, 2], 2.5],
  [[7], 7],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected);
});

it('the median of no values is refused', () => {
  expect(() => median([])).toThrow('Nothing was measured.');
  expect(() => medianInterval([])).toThrow('Nothing was measured.');
});

it('the confidence interval of a median contains the median, and lies between the extremes', () => {
  const { low, high } = medianInterval(RATIOS);
  expect(low).toBeGreaterThanOrEqual(0.95);
  expect(low).toBeLessThan(median(RATIOS));
  expect(high).toBeGreaterThan(median(RATIOS));
  expect(high).toBeLessThanOrEqual(1.05);
});

it('the confidence interval of the same values is always the same', () => {
  expect(medianInterval(RATIOS)).toEqual(medianInterval([...RATIOS]));
});

it('equal values give a confidence interval without width', () => {
  expect(medianInterval([2, 2, 2])).toEqual({ low: 2, high: 2 });
});

it('a single outlier hardly changes the confidence interval', () => {
  const { low, high } = medianInterval([...RATIOS.slice(1), 40]);
  expect(low).toBeGreaterThan(0.95);
  expect(high).toBeLessThan(1.06);
});
