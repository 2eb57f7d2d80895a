import type { Results } from '../results';
import { targets, isMet, type Target } from './targets';
import { figure, table } from './text';

/** Returns the table that compares the targets with the figures. */
export function targetsSection(results: Results): string {
  const rows = targets(results).map((target) => [
    target.text,
    `${target.isMinimum ? 'at least' : 'at most'} ${figure(target.limit)}`,
    measuredText(target),
    verdict(target),
  ]);
  return table(['Figure', 'Target', 'Measured', 'Result'], rows);
}

/** Returns the measured figure, with a third decimal if the figure would otherwise look equal to the limit. */
function measuredText({ limit, measured }: Target): string {
  if (measured === null) return '';
  const text = figure(measured);
  return text === figure(limit) && measured !== limit && limit < 100 ? measured.toFixed(3) : text;
}

function verdict(target: Target): string {
  const met = isMet(target);
  if (met === null) return 'not measured';
  if (met) return 'met';
  const { limit, measured } = target;
  if (limit === 0) return '**not met**';
  const percent = Math.round(Math.abs(measured! / limit - 1) * 100);
  return `**not met**, by ${percent === 0 ? 'less than 1' : percent} %`;
}
