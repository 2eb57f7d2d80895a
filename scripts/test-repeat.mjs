// npm run test:repeat -- 20: runs `npm test` 20 times beside two busy processes, and stops at the first run that fails.
// npm run test:repeat -- 20 test/races: the same with the tests of a file or folder.
import { spawn, spawnSync } from 'node:child_process';

const [times, ...paths] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(times ?? '')) {
  console.error('Give the number of runs: npm run test:repeat -- 20 [paths]');
  process.exit(1);
}

const busy = [1, 2].map(() => spawn(process.execPath, ['--eval', 'for (;;) {}'], { stdio: 'ignore' }));
process.on('exit', () => busy.forEach((child) => child.kill()));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

for (let run = 1; run <= Number(times); run++) {
  console.log(`Run ${run} of ${times}`);
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs', ...paths], { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`Run ${run} of ${times} failed.`);
    process.exit(1);
  }
}
console.log(`All ${times} runs passed.`);
process.exit();
