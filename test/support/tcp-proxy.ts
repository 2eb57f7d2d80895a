import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy between the library and a database server, which simulates network failures. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private isSilent = false;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    private port: number,
  ) {}

  /**
   * @param url the URL of the server
   * @returns the proxy, with the URL that leads through it
   */
  static async start(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const through = new URL(url);
    const proxy = new TcpProxy({ host: through.hostname, port: Number(through.port) }, 0);
    await proxy.listen();
    through.hostname = '127.0.0.1';
    through.port = String(proxy.port);
    return { proxy, url: through.href };
  }

  /**
   * Forwards everything again. Connections that were silenced stay silent, as after a partition that lost their
   * packets.
   */
  async heal(): Promise<void> {
    this.isSilent = false;
    if (!this.server) await this.listen();
  }

  /** Stops forwarding data. Connections are still accepted and stay open. */
  silence(): void {
    this.isSilent = true;
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Closes the connections and refuses new ones. */
  async refuse(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => server?.close(resolve));
  }

  private async listen(): Promise<void> {
    const server = createServer((client) => {
      this.keep(client);
      if (this.isSilent) return;
      const upstream = this.keep(connect(this.target.port, this.target.host));
      client.pipe(upstream).pipe(client);
      client.on('close', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }
}
