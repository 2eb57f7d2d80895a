import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createServer, type AddressInfo } from 'node:net';

/** Starts the application on a free port, with a database in memory. */
export async function startApplication(): Promise<{ app: NestFastifyApplication; origin: string }> {
  const port = await freePort();
  Object.assign(process.env, { PORT: String(port), DB: ':memory:' });
  // The module reads its settings when it is loaded.
  const { app } = await import('../src/main.js');
  return { app, origin: `http://localhost:${port}` };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
