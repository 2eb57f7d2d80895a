import type { Spread } from '../measure/statistics';
import { bar, line, svg, text } from './svg';
import { figure } from './text';

export interface Bar {
  readonly name: string;
  readonly value: Spread;
  readonly isOurs: boolean;
}

export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const NAMES = 150;
const PLOT = 440;
const VALUES = 70;
const ROW = 22;

/** Panels of bars, one below the other, each on a scale of its own: the median, with a whisker from least to most. */
export function barChart(title: string, panels: readonly Panel[]): string {
  const parts = [text(0, 16, title, 'title')];
  let y = 36;
  for (const panel of panels) {
    parts.push(text(0, y + 12, panel.title, 'quiet'));
    y += ROW;
    const most = Math.max(...panel.bars.map(({ value }) => value.max), Number.EPSILON);
    const width = (value: number): number => (value / most) * PLOT;
    for (const { name, value, isOurs } of panel.bars) {
      const middle = y + ROW / 2 - 2;
      parts.push(
        text(NAMES - 8, middle + 4, name, isOurs ? 'title' : '', 'end'),
        bar(NAMES, middle - 7, width(value.median), 14, isOurs ? 'ours' : 'bar'),
        line(NAMES + width(value.min), middle, NAMES + width(value.max), middle, 'whisker'),
        text(NAMES + width(Math.max(value.median, value.max)) + 6, middle + 4, figure(value.median)),
      );
      y += ROW;
    }
    y += ROW / 2;
  }
  return svg(NAMES + PLOT + VALUES, y, title, parts);
}
