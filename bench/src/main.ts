import { compareVersions } from './compare/compare';
import { machine, packageVersions, serverVersions } from './measure/machine';
import { log, type Figure, type Part } from './measure/part';
import { Teardown } from './measure/teardown';
import { writePage } from './page';
import { measureGuard } from './parts/guard';
import { measureLogin } from './parts/login';
import { measureMemory } from './parts/memory';
import { measureRefresh } from './parts/refresh';
import { measureStart } from './parts/start';
import { PART_NAMES, readResults, saveResults, type PartName, type Results } from './results';
import { HELP, readCommand, type Settings } from './settings';

const PARTS: Readonly<Record<PartName, Part>> = {
  guard: measureGuard,
  refresh: measureRefresh,
  login: measureLogin,
  start: measureStart,
  memory: measureMemory,
};

const args = process.argv.slice(2);
const teardown = new Teardown();

async function main(): Promise<void> {
  const { name, operands, isHelp, settings } = readCommand(args);
  if (isHelp) return log(HELP);
  if (name === 'compare') return compareVersions(operands, settings, teardown);
  if (name === 'page') return writePage(readResults());
  if (name === 'all') return await saveAll(await measureAll(PART_NAMES, settings), settings);
  const parts = name === 'quick' ? PART_NAMES : PART_NAMES.filter((part) => part === name);
  if (parts.length === 0) throw new Error(`Unknown part ${name}. See npm run bench -- --help.`);
  for (const figures of Object.values(await measureAll(parts, settings))) print(figures);
}

async function measureAll(names: readonly PartName[], settings: Settings): Promise<Results['parts']> {
  const parts: Partial<Record<PartName, readonly Figure[]>> = {};
  for (const name of names) parts[name] = await PARTS[name](settings, teardown);
  return parts as Results['parts'];
}

async function saveAll(parts: Results['parts'], { databases, rounds, seconds }: Settings): Promise<void> {
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const at = new Date().toISOString();
  const versions = { ...packageVersions(), ...(await serverVersions(databases)) };
  const results = { at, machine: machine(), versions, command, rounds, seconds, parts };
  saveResults(results);
  writePage(results);
}

function print(figures: readonly Figure[]): void {
  console.table(
    figures.map(({ name, database, unit, median, low, high }) => ({ name, database, unit, median, low, high })),
  );
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
