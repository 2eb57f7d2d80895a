/** Colours for light and for dark surroundings; the background is that of the page. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .quiet { fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  .line { fill: none; stroke: #0969da; stroke-width: 2; }
  .second { stroke: #bc4c00; }
  .whisker, .axis { stroke: #59636e; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .bar { fill: #656c76; }
    .ours { fill: #4493f8; }
    .line { stroke: #4493f8; }
    .second { stroke: #f0883e; }
    .whisker, .axis { stroke: #9198a1; }
  }`;

export function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>${STYLE}
</style>
${parts.join('\n')}
</svg>
`;
}

export function text(x: number, y: number, content: string, kind = '', anchor = 'start'): string {
  return `<text x="${at(x)}" y="${at(y)}" class="${kind}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

export function bar(x: number, y: number, width: number, height: number, kind: string): string {
  return `<rect x="${at(x)}" y="${at(y)}" width="${at(width)}" height="${at(height)}" rx="2" class="${kind}"/>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" class="${kind}"/>`;
}

export function path(points: readonly (readonly [number, number])[], kind: string): string {
  return `<polyline points="${points.map(([x, y]) => `${at(x)},${at(y)}`).join(' ')}" class="${kind}"/>`;
}

function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(content: string): string {
  return content.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
