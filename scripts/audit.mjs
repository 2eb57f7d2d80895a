// Reports known vulnerabilities in the dependencies of the published package. If the registry does not support
// audits, the script says so and succeeds.
import { spawnSync } from 'node:child_process';

const run = spawnSync('npm', ['audit', '--omit=dev', '--workspace', 'nestjs-session-auth', '--json'], {
  encoding: 'utf8',
});
let report;
try {
  report = JSON.parse(run.stdout);
} catch {
  report = {};
}
const counts = report.metadata?.vulnerabilities;
if (!counts) {
  console.log('npm audit: not checked, because the registry does not support audits.');
} else if (counts.total > 0) {
  console.error(
    `npm audit: ${counts.total} known vulnerabilities in published dependencies: ${Object.keys(report.vulnerabilities).join(', ')}`,
  );
  process.exitCode = 1;
} else {
  console.log('npm audit: no known vulnerability in published dependencies.');
}
