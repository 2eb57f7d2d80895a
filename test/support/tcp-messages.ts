import { ClientProxyFactory, Transport, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import { firstValueFrom } from 'rxjs';
import { freePort } from './port';
import type { TestApplication } from './test-application';

/** The server for messages over TCP of an application, and its client. */
export class TcpMessages {
  private client!: ClientProxy;

  constructor(private readonly inheritAppConfig = true) {}

  /** Starts the server with the application, and connects the client. */
  readonly configure = async (nest: TestApplication['nest']): Promise<void> => {
    const server = { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } } as const;
    nest.connectMicroservice<MicroserviceOptions>(server, { inheritAppConfig: this.inheritAppConfig });
    await nest.startAllMicroservices();
    this.client = ClientProxyFactory.create(server);
  };

  /** Sends a message, and returns the result of its handler, or the error as `{ error }`. */
  readonly send = (pattern: string, data: unknown): Promise<unknown> =>
    firstValueFrom(this.client.send<unknown>(pattern, data)).catch((error: unknown) => ({ error }));

  readonly close = () => this.client.close();
}
