import type { MemoryResult, Sample } from '../parts/memory';
import type { Measurement } from '../results';
import { lineChart } from './chart';
import { DATABASE_NAMES } from './names';
import { figure, origin } from './text';

export function memorySection(measurement: Measurement<MemoryResult>): string {
  const { fullLoad, unknownTokens, database, connections, minutes } = measurement.result;
  const requests = fullLoad.requests.toLocaleString('en-GB');
  return [
    `${origin(measurement)} ${DATABASE_NAMES[database]}, ${connections} connections, ${requests} requests under full load. ` +
      'Each sample follows a garbage collection. The upper line is the resident set, the lower line is the heap.',
    memoryChart(`${figure(minutes)} min of full load`, fullLoad.samples),
    memoryChart(`${unknownTokens.tokens.toLocaleString('en-GB')} unknown tokens`, unknownTokens.samples),
  ].join('\n\n');
}

function memoryChart(title: string, samples: readonly Sample[]): string {
  return lineChart({
    title: `Memory: ${title}`,
    unit: 'MiB',
    seconds: samples.at(-1)?.second ?? 0,
    lines: [samples.map(({ rssMiB }) => rssMiB), samples.map(({ heapMiB }) => heapMiB)],
  });
}
