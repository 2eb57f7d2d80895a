import { Agent, request } from 'node:http';

/** Asks a route so often, each time with an `Authorization` header of its own, and throws at another answer than is expected. */
export async function askEach(
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
      if (status !== expected) throw new Error(`${status} was answered where ${expected} was expected`);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
  } finally {
    agent.destroy();
  }
}

/** The status that a route answers. */
export function statusOf(url: string, agent: Agent, authorization: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, method, headers: { authorization } }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.once('error', reject);
    asked.end();
  });
}
