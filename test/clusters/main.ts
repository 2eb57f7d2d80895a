import { parseArgs } from 'node:util';
import { CONTRACTS } from './contract';
import { FAULTS } from './faults';
import { LOSSES } from './lost-commits';
import { writePage } from './page';
import { READS } from './reads';
import { isMet, type Scenario } from './scenario';
import { NOT_RUN, render, worst, type Result } from './table';
import { Workspace } from './workspace';

const SCENARIOS = [...FAULTS, ...LOSSES, ...READS, ...CONTRACTS];

const HELP = `npm run clusters -- [--short] [--only name,name] [--times n] [--write]

--short   a killed node of Galera, a promoted standby of PostgreSQL, and parallel requests on both: under five minutes
--only    some scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
--times   runs everything so many times, and shows the worst figures
--write   puts the figures into docs/reliability.md`;

let workspace: Workspace | undefined;

async function main(): Promise<void> {
  const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const;
  const { values } = parseArgs({ options: { help: flag, short: flag, only: text, times: text, write: flag } });
  if (values.help) return console.log(HELP);
  const times = Number(values.times ?? 1);
  const chosen = choose(values.only, values.short ?? false);
  const runs: Result[][] = [];
  for (let run = 1; run <= times; run++) {
    const results: Result[] = [];
    for (const scenario of chosen) results.push(await measure(scenario));
    runs.push(results);
    console.log(`\n${render(results)}\n`);
  }
  const results = worst(runs);
  if (times > 1) console.log(`The worst of ${times} runs:\n\n${render(results)}\n`);
  if (values.write) writePage(results, times, SCENARIOS.length);
  const figures = results.flatMap(({ outcomes }) => outcomes.flatMap((outcome) => outcome.figures));
  const unmet = figures.filter((one) => !isMet(one)).length;
  console.log(unmet === 0 ? 'All targets are met.' : `${unmet} targets are not met.`);
  if (unmet > 0) process.exitCode = 1;
}

function choose(only: string | undefined, isShort: boolean): Scenario[] {
  if (only === undefined) return SCENARIOS.filter((scenario) => !isShort || scenario.isShort);
  return only.split(',').map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (!found) throw new Error(`Unknown scenario ${name}.\n\n${HELP}`);
    return found;
  });
}

async function measure(scenario: Scenario): Promise<Result> {
  console.log(`${scenario.cluster}: ${scenario.title}`);
  const begin = performance.now();
  workspace = await Workspace.open();
  try {
    const outcomes = await scenario.run(workspace);
    for (const { subject, figures, details = [] } of outcomes) {
      const shown = figures.map((one) => `${one.name} ${one.value}${isMet(one) ? '' : ' (!)'}`);
      console.log(`  ${subject}: ${shown.join(', ')}`);
      for (const detail of details.slice(0, 5)) console.log(`    ${detail}`);
      if (details.length > 5) console.log(`    and ${details.length - 5} more`);
    }
    console.log(`  ${Math.round((performance.now() - begin) / 1_000)} s`);
    return { scenario, outcomes };
  } catch (error) {
    console.error(error);
    return { scenario, outcomes: NOT_RUN };
  } finally {
    await workspace?.teardown.run();
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void workspace?.teardown.run().then(() => process.exit(130)));
}

void main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => process.exit());
