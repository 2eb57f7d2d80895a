import type { Finding, Results } from '../results';
import type { Section } from './section';

/** The machine and the versions, once for all parts that were measured on the same. */
export function machineSection(results: Results): Section {
  const parts = new Map<string, string[]>();
  for (const [name, finding] of Object.entries(results)) {
    const where = describe(finding);
    parts.set(where, [...(parts.get(where) ?? []), name]);
  }
  const isOne = parts.size === 1;
  const text = [...parts].map(([where, names]) => (isOne ? where : `${names.join(', ')}: ${where}`)).join('\n\n');
  return { text: text || 'Not measured yet.' };
}

function describe({ machine, versions }: Finding<unknown>): string {
  const { processor, cores, memoryGiB, system } = machine;
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cores} cores (${processor}), ${memoryGiB} GiB, ${system}; ${used.join(', ')}.`;
}
