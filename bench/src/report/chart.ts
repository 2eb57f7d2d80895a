/** Labels and values of a bar chart. */
export type Bars = readonly (readonly [label: string, value: number])[];

/** Draws a bar chart in Mermaid, one bar per row. */
export function barChart(title: string, unit: string, bars: Bars): string {
  return mermaid([
    'xychart-beta horizontal',
    `  title ${quoted(title)}`,
    `  x-axis [${bars.map(([label]) => quoted(label)).join(', ')}]`,
    `  y-axis ${quoted(unit)} 0 --> ${ceiling(bars.map(([, value]) => value))}`,
    `  bar [${bars.map(([, value]) => value).join(', ')}]`,
  ]);
}

interface LineChart {
  readonly title: string;
  readonly unit: string;
  /** The time of the last value. The values are evenly spaced. */
  readonly seconds: number;
  readonly lines: readonly (readonly number[])[];
}

/** Draws lines over time in Mermaid. Charts have no legend, so the text above them must name the lines. */
export function lineChart({ title, unit, seconds, lines }: LineChart): string {
  return mermaid([
    'xychart-beta',
    `  title ${quoted(title)}`,
    `  x-axis "seconds" 0 --> ${Math.ceil(seconds)}`,
    `  y-axis ${quoted(unit)} 0 --> ${ceiling(lines.flat())}`,
    ...lines.map((values) => `  line [${values.join(', ')}]`),
  ]);
}

function mermaid(lines: readonly string[]): string {
  return ['```mermaid', ...lines, '```'].join('\n');
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}

/** Returns the largest value, rounded up to two significant digits. */
function ceiling(values: readonly number[]): number {
  const most = Math.max(...values, Number.EPSILON);
  const unit = 10 ** (Math.floor(Math.log10(most)) - 1);
  return Number((Math.ceil(most / unit) * unit).toPrecision(2));
}
