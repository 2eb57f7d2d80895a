import type { Measurement, Results } from '../results';

/** Describes the machine and the versions, once for all parts that share them. */
export function machineSection(results: Results): string {
  const parts = new Map<string, string[]>();
  for (const [name, measurement] of Object.entries(results)) {
    const description = describe(measurement);
    parts.set(description, [...(parts.get(description) ?? []), name]);
  }
  const isShared = parts.size === 1;
  return [...parts]
    .map(([description, names]) => (isShared ? description : `${names.join(', ')}: ${description}`))
    .join('\n\n');
}

function describe({ machine, versions }: Measurement<unknown>): string {
  const { processor, cores, memoryGiB, system } = machine;
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cores} cores (${processor}), ${memoryGiB} GiB, ${system}; ${used.join(', ')}.`;
}
