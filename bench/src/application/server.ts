import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { readOptions } from '../../../test/support/sqlite';
import type { MakeContender } from '../contenders/contender';
import type { ApplicationSpec, Listening } from './spec';

/**
 * Runs a contender in its own process. Sends the port and the request headers to the parent process and, on
 * request, the used heap after a garbage collection.
 */
async function main(): Promise<void> {
  const spec = readOptions<ApplicationSpec>(process.env['APPLICATION_SPEC']!);
  const { make } = (await import(`../contenders/${spec.contender}`)) as { make: MakeContender };
  const contender = await make(spec);
  @Module(contender.module)
  class BenchModule {}
  const app = await NestFactory.create<NestExpressApplication>(BenchModule, {
    ...contender.app,
    logger: ['error', 'fatal'],
  });
  contender.configure?.(app);
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  const headers = await contender.credentials(app);
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  process.send!({ port, headers } satisfies Listening);
}

process.on('message', () => {
  globalThis.gc?.();
  process.send!(process.memoryUsage().heapUsed);
});
// The parent process has ended, perhaps by a signal.
process.on('disconnect', () => process.exit(0));

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
