import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { readOptions } from '../../../test/support/sqlite';
import type { MakeContender } from '../contenders/contender';
import type { ApplicationMessage, ApplicationSpec } from './spec';

/**
 * Runs a contender in its own process. Sends the port and the request headers to the parent process and, on
 * request, the memory usage.
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
  send({ port, headers });
}

function send(message: ApplicationMessage): void {
  process.send!(message);
}

process.on('message', () => {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  send({ rss, heapUsed });
});
// The parent process has ended, perhaps by a signal.
process.on('disconnect', () => process.exit(0));

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
