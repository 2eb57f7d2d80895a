// npm run lint: runs all scripts of package.json whose names begin with `lint:`, as many at a time as there are
// processors. Prints the output of each when it ends, and fails if one of them fails.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const names = Object.keys(scripts).filter((name) => name.startsWith('lint:'));

async function run(name) {
  const child = spawn(`npm run -s ${name} 2>&1`, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const output = await text(child.stdout);
  const code = await ended;
  console.log(`${output}${name}: ${code === 0 ? 'ok' : 'failed'}`);
  if (code !== 0) process.exitCode = 1;
}

async function runNext() {
  for (let name; (name = names.shift());) await run(name);
}

await Promise.all(Array.from({ length: availableParallelism() }, runNext));
