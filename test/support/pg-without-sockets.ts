import { createRequire } from 'node:module';

interface Client extends Record<string | symbol, unknown> {
  readonly connection: { readonly stream: { destroy(): void } };
}

interface Pg {
  readonly Client: new (options: object) => Client;
  readonly Pool: new (options: object) => object;
}

const pg = createRequire(__filename)('pg') as Pg;

/** Like the client of `pg-native`, without the socket and the id of the session. */
class ClientWithoutSocket extends pg.Client {
  constructor(options: object) {
    super(options);
    const ignore = (): void => undefined;
    const own: Record<string | symbol, unknown> = {
      connection: undefined,
      processID: undefined,
      _ending: false,
      isConnected: () => this['_connected'],
      ref: ignore,
      unref: ignore,
      end: (done?: () => void) => {
        own['_ending'] = true;
        this.connection.stream.destroy();
        if (done) setImmediate(done);
      },
    };
    return new Proxy(this, {
      get(client, name) {
        const value = name in own ? own[name] : client[name];
        return typeof value === 'function' ? (value.bind(client) as unknown) : value;
      },
    });
  }
}

/** The module `pg`, whose connections offer no more than those of `pg-native`. */
export const WITHOUT_SOCKETS = {
  ...pg,
  Pool: class extends pg.Pool {
    constructor(options: object) {
      super({ ...options, Client: ClientWithoutSocket });
    }
  },
};
