// Known weaknesses of what the published package brings along (bcrypt and what it needs). A registry that answers no audits
// leaves the question open, and it says so.
import { spawnSync } from 'node:child_process';

const run = spawnSync('npm', ['audit', '--omit=dev', '--workspace', 'nestjs-session-auth', '--json'], {
  encoding: 'utf8',
});
let answer;
try {
  answer = JSON.parse(run.stdout);
} catch {
  answer = {};
}
const counts = answer.metadata?.vulnerabilities;
if (!counts) {
  console.log('npm audit: not checked, the registry answers no audits.');
} else if (counts.total > 0) {
  console.error(
    `npm audit: ${counts.total} known weaknesses in what is published: ${Object.keys(answer.vulnerabilities).join(', ')}`,
  );
  process.exitCode = 1;
} else {
  console.log('npm audit: no known weakness in what is published.');
}
