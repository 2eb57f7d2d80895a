import type { Results } from '../results';
import { aimsSection } from './aims-section';
import { growthSection } from './growth-section';
import { guardSection } from './guard-section';
import { instancesSection } from './instances-section';
import { machineSection } from './machine-section';
import { putBetweenMarkers } from './markers';
import { memorySection } from './memory-section';
import { loginSection, refreshSection } from './rate-sections';
import type { Section } from './section';

export interface Report {
  readonly document: string;
  /** SVG by the name of its file, without the ending. */
  readonly plots: ReadonlyMap<string, string>;
}

const NOT_MEASURED: Section = { text: 'Not measured yet.' };

/** The document with the figures in their places, and the plots that belong to it. */
export function composeReport(results: Results, before: string): Report {
  const { guard, refresh, login, growth, memory, instances } = results;
  const sections: Record<string, Section> = {
    aims: aimsSection(results),
    machine: machineSection(results),
    guard: guard ? guardSection(guard) : NOT_MEASURED,
    refresh: refresh ? refreshSection(refresh) : NOT_MEASURED,
    login: login ? loginSection(login) : NOT_MEASURED,
    growth: growth ? growthSection(growth) : NOT_MEASURED,
    memory: memory ? memorySection(memory) : NOT_MEASURED,
    instances: instances ? instancesSection(instances) : NOT_MEASURED,
  };
  const plots = new Map<string, string>();
  let document = before;
  for (const [name, section] of Object.entries(sections)) {
    document = putBetweenMarkers(document, name, section.text);
    for (const [plot, svg] of section.plots ?? []) plots.set(plot, svg);
  }
  return { document, plots };
}
