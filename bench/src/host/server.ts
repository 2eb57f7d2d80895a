import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import type { MakeContender } from '../contenders/contender';
import type { HostSpec, HostReport } from './spec';

/** A host in a process of its own. Tells its parent its port, what clients send, and, when asked, its memory. */
async function main(): Promise<void> {
  const spec = JSON.parse(process.env['HOST_SPEC']!) as HostSpec;
  const { make } = (await import(`../contenders/${spec.contender}`)) as { make: MakeContender };
  const contender = await make(spec);
  @Module(contender.module)
  class HostModule {}
  const app = await NestFactory.create<NestExpressApplication>(HostModule, {
    ...contender.app,
    logger: ['error', 'fatal'],
  });
  contender.configure?.(app);
  app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  const headers = await contender.credentials(app);
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  report({ port, headers });
}

function report(message: HostReport): void {
  process.send!(message);
}

process.on('message', () => {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  report({ rss, heapUsed });
});
// Without its parent it has nobody to serve.
process.on('disconnect', () => process.exit(0));

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
