import { spawnSync } from 'node:child_process';
import { Transport, type MicroserviceOptions } from '@nestjs/microservices';

const BROKERS = [
  { name: 'NATS', port: 4222 },
  { name: 'RabbitMQ', port: 5672 },
  { name: 'Redis', port: 6379 },
] as const;

export type BrokerName = (typeof BROKERS)[number]['name'];

/** The options of a client or server for a broker on its usual local port. They can differ only in the queue. */
export function optionsOf(name: BrokerName, queue: string): MicroserviceOptions & { transport: Transport } {
  if (name === 'NATS') return { transport: Transport.NATS, options: { servers: ['nats://127.0.0.1:4222'], queue } };
  if (name === 'Redis') return { transport: Transport.REDIS, options: { host: '127.0.0.1', port: 6379 } };
  const queueOptions = { durable: false, autoDelete: true };
  return { transport: Transport.RMQ, options: { urls: ['amqp://127.0.0.1:5672'], queue, queueOptions } };
}

/** Returns the brokers that answer. It is synchronous, because Jest defines tests synchronously. */
export function availableBrokers(): BrokerName[] {
  const code = `for (const port of process.argv.slice(1)) {
    const socket = require('node:net').connect(port, '127.0.0.1', () => { console.log(port); socket.destroy(); });
    socket.on('error', () => {});
  }`;
  const ports = BROKERS.map(({ port }) => String(port));
  const { stdout } = spawnSync(process.execPath, ['-e', code, ...ports], { encoding: 'utf8', timeout: 5_000 });
  const open = stdout.split('\n');
  return BROKERS.filter(({ port }) => open.includes(String(port))).map(({ name }) => name);
}

/** Runs the same tests with each broker. Those of a broker that does not answer are reported as skipped. */
export function describeOnEachBroker(title: string, defineTests: (name: BrokerName) => void): void {
  const available = availableBrokers();
  for (const { name, port } of BROKERS) {
    if (available.includes(name)) describe(`${title} with ${name}`, () => defineTests(name));
    else describe.skip(`${title} with ${name}, which does not answer on port ${port}`, () => defineTests(name));
  }
}

/** Waits until RabbitMQ has confirmed all responses. A close before rejects promises that Nest does not handle. */
export async function untilConfirmed(service: { unwrap<T>(): T }): Promise<void> {
  const { _channels: channels = [] } = service.unwrap<{ _channels?: { _unconfirmedMessages: unknown[] }[] }>();
  while (channels.some((channel) => channel._unconfirmedMessages.length > 0)) await new Promise(setImmediate);
}
