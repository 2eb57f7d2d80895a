// Generates load with wrk, which needs less processor time than a client on Node.js.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJob, writeResult } from './job.mjs';

const job = await readJob();
if (job.bodies) throw new Error('--load wrk: only GET requests are supported. Use --load node.');
const quoted = (text) => JSON.stringify(String(text));
const tables = job.headers.map(
  (headers) =>
    `{ ${Object.entries(headers)
      .map(([name, value]) => `[${quoted(name)}] = ${quoted(value)}`)
      .join(', ')} }`,
);
const script = `
local headers = { ${tables.join(',\n')} }
local requests = {}
local next = 0
function init()
  for index, one in ipairs(headers) do requests[index] = wrk.format("GET", nil, one) end
end
function request()
  next = next + 1
  return requests[(next - 1) % #requests + 1]
end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"us":%d,"refused":%d,"errors":%d,"p50":%.3f,"p99":%.3f}\\n',
    summary.requests, summary.duration, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`;
const folder = mkdtempSync(join(tmpdir(), 'nsa-wrk-'));
try {
  const file = join(folder, 'load.lua');
  writeFileSync(file, script);
  const args = [
    '-t1',
    `-c${job.connections}`,
    `-d${Math.max(1, Math.round(job.seconds))}s`,
    '--timeout',
    '10s',
    '-s',
    file,
    job.url,
  ];
  const { stdout, stderr, error } = spawnSync('wrk', args, { encoding: 'utf8' });
  const line = /^RESULT (.*)$/m.exec(stdout ?? '');
  if (!line) throw new Error(`wrk: ${error?.message ?? stderr}${stdout}`);
  const { requests, us, refused, errors, p50, p99 } = JSON.parse(line[1]);
  // wrk counts responses of 400 and above but does not report their statuses.
  const statuses = { 200: requests - refused, ...(refused > 0 ? { refused } : {}) };
  writeResult({ requests, seconds: us / 1e6, statuses, errors, p50Ms: p50, p99Ms: p99 });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
