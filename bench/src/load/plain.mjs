// Generates load with the HTTP client of Node.js, for smoke runs without a load tool.
import { Agent, request } from 'node:http';
import { readJob, Tally, writeResult } from './job.mjs';

const job = await readJob();
const tally = new Tally();
const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
const start = performance.now();
const until = start + job.seconds * 1000;
let errors = 0;

function send(headers) {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    const sent = request(job.url, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(tally.add(response.statusCode, performance.now() - sentAt)));
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function connection(index) {
  let next = Math.floor((index * job.headers.length) / job.connections);
  while (performance.now() < until) await send(job.headers[next++ % job.headers.length]).catch(() => errors++);
}

await Promise.all(Array.from({ length: job.connections }, (_, index) => connection(index)));
agent.destroy();
writeResult(tally.result((performance.now() - start) / 1000, errors));
