import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between the library and a database server: a network that can break. */
export class TcpProxy {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();
  private isSilent = false;

  private constructor(
    private readonly target: { readonly host: string; readonly port: number },
    private port: number,
  ) {}

  /** @param url of the server; @returns with the url that leads through the proxy */
  static async start(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const through = new URL(url);
    const proxy = new TcpProxy({ host: through.hostname, port: Number(through.port) }, 0);
    await proxy.listen();
    through.hostname = '127.0.0.1';
    through.port = String(proxy.port);
    return { proxy, url: through.href };
  }

  /** Everything goes through again; what was silenced stays silent, as after a partition that lost its packets. */
  async heal(): Promise<void> {
    this.isSilent = false;
    if (!this.server) await this.listen();
  }

  /** Nothing is answered any more, and nothing is refused either. */
  silence(): void {
    this.isSilent = true;
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Connections break, and new ones are refused. */
  async refuse(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => server?.close(resolve));
  }

  async stop(): Promise<void> {
    await this.refuse();
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
