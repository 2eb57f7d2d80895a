import type { MemoryResult, Sample } from '../parts/memory';
import type { Finding } from '../results';
import { lineChart } from './line-chart';
import { DATABASE_NAMES } from './names';
import type { Section } from './section';
import { figure, origin } from './text';

export function memorySection(finding: Finding<MemoryResult>): Section {
  const { fullLoad, badTokens, database, connections, minutes } = finding.result;
  const full = `${figure(minutes)} min of full load`;
  const bad = `${badTokens.tokens.toLocaleString('en-GB')} bad tokens`;
  const parts = [
    `${origin(finding)} On ${DATABASE_NAMES[database]}, ${connections} connections, ${fullLoad.requests.toLocaleString('en-GB')} requests under full load; each sample after a garbage collection.`,
    `![${full}](performance/memory-load.svg)`,
    `![${bad}](performance/memory-bad-tokens.svg)`,
  ];
  const plots = new Map([
    ['memory-load', memoryPlot(full, fullLoad.samples)],
    ['memory-bad-tokens', memoryPlot(bad, badTokens.samples)],
  ]);
  return { text: parts.join('\n\n'), plots };
}

function memoryPlot(title: string, samples: readonly Sample[]): string {
  return lineChart(`Memory: ${title}`, 'MiB', [
    { name: 'whole process', points: samples.map(({ second, rssMiB }) => [second, rssMiB]) },
    { name: 'heap', points: samples.map(({ second, heapMiB }) => [second, heapMiB]) },
  ]);
}
