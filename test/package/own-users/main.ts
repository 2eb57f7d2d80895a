import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { Clock, recordSignals } from 'nestjs-session-auth/testing';
import { AppModule, clock } from './app.module.js';
import { Recording } from './driver.controller.js';

/**
 * Starts the application with the driven clock of the testing kit, and trusts one proxy, so that clients can have
 * any address.
 */
async function main(): Promise<void> {
  const testing = Test.createTestingModule({ imports: [AppModule] });
  const module = await testing.overrideProvider(Clock).useValue(clock).compile();
  const app = module.createNestApplication<NestExpressApplication>({ logger: ['error', 'warn'] });
  app.set('trust proxy', 1);
  await app.listen(0, '127.0.0.1');
  app.get(Recording).signals = recordSignals(app);
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  console.log(`listening ${port}`);
}
void main();
