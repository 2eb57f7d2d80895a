// Load by Node's own client: for a smoke run, where nothing more is installed.
import { Agent, request } from 'node:http';
import { readJob, Tally, writeResult } from './job.mjs';

const job = await readJob();
const tally = new Tally();
const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
const start = performance.now();
const until = start + job.seconds * 1000;
let errors = 0;

function ask(headers) {
  return new Promise((resolve, reject) => {
    const sent = performance.now();
    const asked = request(job.url, { agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(tally.add(answer.statusCode, performance.now() - sent)));
    });
    asked.once('error', reject);
    asked.end();
  });
}

async function connection(index) {
  let next = Math.floor((index * job.headers.length) / job.connections);
  while (performance.now() < until) await ask(job.headers[next++ % job.headers.length]).catch(() => errors++);
}

await Promise.all(Array.from({ length: job.connections }, (_, index) => connection(index)));
agent.destroy();
writeResult(tally.result((performance.now() - start) / 1000, errors));
