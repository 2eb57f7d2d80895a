import { Agent, request } from 'node:http';

/**
 * Sends requests, each with its own `Authorization` header.
 * @throws Error if a response has a different status than expected
 */
export async function requestEach(
  url: string,
  count: number,
  connections: number,
  header: () => string,
  expected: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let left = count;
  const connection = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await statusOf(url, agent, header());
      if (status !== expected) throw new Error(`The response was ${status}, expected ${expected}.`);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
  } finally {
    agent.destroy();
  }
}

/** Sends a request and returns the status of the response. */
export function statusOf(url: string, agent: Agent, authorization: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers: { authorization } }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end();
  });
}
