import { createHistogram } from 'node:perf_hooks';

/** Reads the job of this process from stdin. */
export async function readJob() {
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return JSON.parse(text);
}

/** Returns the requests that each connection of the job cycles through. */
export function requestsOf({ headers, bodies }) {
  if (!bodies) return headers.map((each) => ({ method: 'GET', headers: each }));
  const json = { 'content-type': 'application/json' };
  return bodies.map((body) => ({ method: 'POST', headers: json, body: JSON.stringify(body) }));
}

/** Returns the body of the next request of a job with `follow`: the followed field of a response. */
export function nextBody({ follow }, responseText) {
  return JSON.stringify({ [follow]: JSON.parse(responseText)[follow] });
}

export function writeResult(result) {
  console.log(JSON.stringify(result));
}

/** Counts responses and records their times in microseconds. */
export class Tally {
  constructor() {
    this.times = createHistogram();
    this.statuses = {};
    this.requests = 0;
  }

  add(status, milliseconds) {
    this.requests++;
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    this.times.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  result(seconds, errors) {
    const [p50Ms, p99Ms] = [50, 99].map((share) => this.times.percentile(share) / 1000);
    return { requests: this.requests, seconds, statuses: this.statuses, errors, p50Ms, p99Ms };
  }
}
