// Generates load with the HTTP client of Node.js.
import { Agent, request } from 'node:http';
import { nextBody, readJob, requestsOf, Tally, writeResult } from './job.mjs';

const job = await readJob();
const requests = requestsOf(job);
const tally = new Tally();
const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
const start = performance.now();
const until = start + job.seconds * 1000;
let errors = 0;

function send({ body, ...options }) {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    const sent = request(job.url, { agent, ...options }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      tally.add(response.statusCode, performance.now() - sentAt);
      resolve(response.statusCode === 200 ? text : null);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function connection(index) {
  if (job.follow) return follow(requests[index]);
  let next = Math.floor((index * requests.length) / job.connections);
  while (performance.now() < until) await send(requests[next++ % requests.length]).catch(() => errors++);
}

async function follow(first) {
  let body = first.body;
  while (performance.now() < until && body !== null) {
    const text = await send({ ...first, body }).catch(() => errors++);
    body = typeof text === 'string' ? nextBody(job, text) : null;
  }
}

await Promise.all(Array.from({ length: job.connections }, (_, index) => connection(index)));
agent.destroy();
writeResult(tally.result((performance.now() - start) / 1000, errors));
