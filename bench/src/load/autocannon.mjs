// Generates load with autocannon.
import autocannon from 'autocannon';
import { readJob, Tally, writeResult } from './job.mjs';

const job = await readJob();
const tally = new Tally();
const requests = job.headers.map((headers) => ({ method: 'GET', headers }));
let connection = 0;
const start = performance.now();
const run = autocannon({
  url: job.url,
  connections: job.connections,
  duration: job.seconds,
  setupClient(client) {
    const first = Math.floor((connection++ * requests.length) / job.connections);
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
  },
});
run.on('response', (_client, status, _bytes, milliseconds) => tally.add(status, milliseconds));
const { errors } = await run;
writeResult(tally.result((performance.now() - start) / 1000, errors));
