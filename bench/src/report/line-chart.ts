import { line, path, svg, text } from './svg';
import { figure } from './text';

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const LEFT = 60;
const RIGHT = 120;
const WIDTH = 480;
const HEIGHT = 180;
const TOP = 36;

/** Up to two lines from zero up. */
export function lineChart(title: string, unit: string, lines: readonly Line[]): string {
  const points = lines.flatMap((one) => one.points);
  const [right, top] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis]!), 1));
  const x = (value: number): number => LEFT + (value / right!) * WIDTH;
  const y = (value: number): number => TOP + HEIGHT - (value / top!) * HEIGHT;
  const parts = [
    text(0, 16, title, 'title'),
    line(LEFT, y(0), LEFT + WIDTH, y(0), 'axis'),
    text(LEFT - 6, y(0) + 4, '0', 'quiet', 'end'),
    text(LEFT - 6, y(top!) + 4, figure(top!), 'quiet', 'end'),
    text(LEFT - 6, y(top! / 2) + 4, unit, 'quiet', 'end'),
    text(LEFT + WIDTH, y(0) + 18, `${figure(right!)} s`, 'quiet', 'end'),
  ];
  for (const [index, one] of lines.entries()) {
    parts.push(
      path(
        one.points.map((point) => [x(point[0]), y(point[1])]),
        index === 0 ? 'line' : 'line second',
      ),
      text(LEFT + WIDTH + 8, y(one.points.at(-1)?.[1] ?? 0) + 4, one.name),
    );
  }
  return svg(LEFT + WIDTH + RIGHT, TOP + HEIGHT + 28, title, parts);
}
