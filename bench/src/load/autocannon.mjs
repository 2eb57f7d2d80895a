// Generates load with autocannon.
import autocannon from 'autocannon';
import { nextBody, readJob, requestsOf, Tally, writeResult } from './job.mjs';

const job = await readJob();
const tally = new Tally();
const requests = requestsOf(job);
let connection = 0;
const start = performance.now();
const run = autocannon({
  url: job.url,
  connections: job.connections,
  duration: job.seconds,
  setupClient(client) {
    const index = connection++;
    if (job.follow) {
      const onResponse = (status, text) => status === 200 && client.setBody(nextBody(job, text));
      client.setRequests([{ ...requests[index], onResponse }]);
      return;
    }
    const first = Math.floor((index * requests.length) / job.connections);
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
  },
});
run.on('response', (_client, status, _bytes, milliseconds) => tally.add(status, milliseconds));
const { errors } = await run;
writeResult(tally.result((performance.now() - start) / 1000, errors));
