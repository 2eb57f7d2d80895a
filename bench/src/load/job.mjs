import { createHistogram } from 'node:perf_hooks';

/** Reads the job of this process from stdin. */
export async function readJob() {
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return JSON.parse(text);
}

export function writeResult(result) {
  console.log(JSON.stringify(result));
}

/** Counts responses and records their times in microseconds. Autocannon records only whole milliseconds. */
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
