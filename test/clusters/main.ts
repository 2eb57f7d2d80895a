import { parseArgs } from 'node:util';
import { CONTRACTS } from './contract';
import { FAULTS } from './faults';
import { LOSSES } from './lost-commits';
import { NOT_RUN, render, worst, writePage, type Result } from './page';
import { READS } from './reads';
import { isMet, type Outcome, type Scenario } from './scenario';
import { Workspace } from './workspace';

const SCENARIOS = [...FAULTS, ...LOSSES, ...READS, ...CONTRACTS];

const HELP = `npm run clusters -- [--short] [--only name,name] [--times n] [--write]

--short   a killed node of Galera, a promoted standby of PostgreSQL, and parallel requests on both: under five minutes
--only    some scenarios: ${SCENARIOS.map(({ name }) => name).join(', ')}
--times   runs each scenario so many times, and shows the worst figures
--write   puts the figures into docs/reliability.md`;

let workspace: Workspace | undefined;

async function main(): Promise<void> {
  const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const;
  const { values } = parseArgs({ options: { help: flag, short: flag, only: text, times: text, write: flag } });
  if (values.help) return console.log(HELP);
  const times = Number(values.times ?? 1);
  const chosen = choose(values.only, values.short ?? false);
  const results: Result[] = [];
  for (const scenario of chosen) {
    const runs: (readonly Outcome[])[] = [];
    while (runs.length < times) runs.push(await measure(scenario));
    results.push({ scenario, outcomes: worst(runs) });
  }
  console.log(`The worst of ${times} runs:\n\n${render(results)}\n`);
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

async function measure(scenario: Scenario): Promise<readonly Outcome[]> {
  console.log(`${scenario.cluster}: ${scenario.title}`);
  const begin = performance.now();
  workspace = await Workspace.open();
  try {
    const outcomes = await scenario.run(workspace);
    const details = outcomes.flatMap((outcome) => outcome.details ?? []);
    const lines = [render([{ scenario, outcomes }]), ...details.slice(0, 10)];
    if (details.length > 10) lines.push(`and ${details.length - 10} more`);
    console.log(`${lines.join('\n')}\n${Math.round((performance.now() - begin) / 1_000)} s\n`);
    return outcomes;
  } catch (error) {
    console.error(error);
    return NOT_RUN;
  } finally {
    await workspace.teardown.run();
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
