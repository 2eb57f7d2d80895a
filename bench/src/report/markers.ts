/** Replaces the text between `<!-- bench:name -->` and `<!-- /bench:name -->`. */
export function putBetweenMarkers(document: string, name: string, text: string): string {
  const [begin, end] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const [first, last] = [document.indexOf(begin), document.indexOf(end)];
  if (first < 0 || last < first)
    throw new Error(`docs/performance.md has no markers for ${name}. Add ${begin} ${end}.`);
  return `${document.slice(0, first + begin.length)}\n${text}\n${document.slice(last)}`;
}
