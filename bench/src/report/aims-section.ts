import type { Results } from '../results';
import { aims, isMet, type Aim } from './aims';
import { figure, table } from './text';

/** Compares the aims with the figures. */
export function aimsSection(results: Results): string {
  const rows = aims(results).map((aim) => [
    aim.text,
    `${aim.isFloor ? 'at least' : 'at most'} ${figure(aim.limit)}`,
    aim.measured === null ? '' : figure(aim.measured),
    verdict(aim),
  ]);
  return table(['Aim', 'Wanted', 'Measured', ''], rows);
}

function verdict(aim: Aim): string {
  const met = isMet(aim);
  if (met === null) return 'not measured';
  if (met) return 'met';
  const { limit, measured } = aim;
  if (limit === 0) return '**not met**';
  return `**not met**, by ${Math.max(1, Math.round(Math.abs(measured! / limit - 1) * 100))} %`;
}
