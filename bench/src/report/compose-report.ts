import type { Results } from '../results';
import { targetsSection } from './targets-section';
import { boundedSection } from './bounded-section';
import { growthSection } from './growth-section';
import { guardSection } from './guard-section';
import { instancesSection } from './instances-section';
import { machineSection } from './machine-section';
import { putBetweenMarkers } from './markers';
import { memorySection } from './memory-section';
import { loginSection, refreshSection } from './rate-sections';

const NOT_MEASURED = 'Not measured yet.';

/** Replaces the figures between the markers of the document, and keeps the rest. */
export function composeReport(results: Results, document: string): string {
  const { guard, refresh, login, bounded, growth, memory, instances } = results;
  const sections: Record<string, string> = {
    targets: targetsSection(results),
    machine: machineSection(results) || NOT_MEASURED,
    guard: guard ? guardSection(guard) : NOT_MEASURED,
    refresh: refresh ? refreshSection(refresh) : NOT_MEASURED,
    login: login ? loginSection(login) : NOT_MEASURED,
    bounded: bounded ? boundedSection(bounded) : NOT_MEASURED,
    growth: growth ? growthSection(growth) : NOT_MEASURED,
    memory: memory ? memorySection(memory) : NOT_MEASURED,
    instances: instances ? instancesSection(instances) : NOT_MEASURED,
  };
  return Object.entries(sections).reduce((text, [name, section]) => putBetweenMarkers(text, name, section), document);
}
