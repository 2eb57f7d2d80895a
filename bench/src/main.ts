import { Teardown } from './measure/teardown';
import { machine, versions } from './measure/machine';
import { measureBounded } from './parts/bounded';
import { measureGrowth } from './parts/growth';
import { measureGuard } from './parts/guard';
import { measureInstances } from './parts/instances';
import { measureLogin } from './parts/login';
import { measureMemory } from './parts/memory';
import { log, type Part } from './parts/part';
import { measureRefresh } from './parts/refresh';
import { writeReport } from './report/write-report';
import { saveMeasurement, LATEST, type PartName, type PartResults } from './results';
import { HELP, readCommand, type Settings } from './settings';
import { compareVersions } from './versions/compare';

const PARTS: { readonly [Name in PartName]: Part<PartResults[Name]> } = {
  guard: measureGuard,
  refresh: measureRefresh,
  login: measureLogin,
  bounded: measureBounded,
  growth: measureGrowth,
  memory: measureMemory,
  instances: measureInstances,
};

const args = process.argv.slice(2);
const teardown = new Teardown();

async function main(): Promise<void> {
  const { part, operands, isHelp, settings } = readCommand(args);
  if (isHelp) return log(HELP);
  if (part === 'compare') return compareVersions(operands, settings, teardown);
  if (part === 'all') for (const name of Object.keys(PARTS)) await measure(name as PartName, settings);
  else if (part in PARTS) await measure(part as PartName, settings);
  else if (part !== 'report') throw new Error(`Unknown part ${part}. See npm run bench -- --help.`);
  if (settings.out === LATEST) writeReport();
}

async function measure<Name extends PartName>(name: Name, settings: Settings): Promise<void> {
  const options = args[0] === name ? args.slice(1) : args;
  const result = await PARTS[name](settings, teardown);
  const measurement = {
    at: new Date().toISOString(),
    machine: machine(),
    versions: versions(),
    command: ['npm run bench --', name, ...options].join(' '),
    result,
  };
  saveMeasurement(name, measurement, settings.out);
}

async function end(code: number): Promise<void> {
  await teardown.run();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130));

main().then(
  () => end(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : error);
    return end(1);
  },
);
