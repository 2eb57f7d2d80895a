import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';

type Callback = (error?: Error | null) => void;

interface Client extends EventEmitter {
  readonly connection: { readonly stream: { destroy(): void } };
  connect(done: Callback): void;
  query(...parameters: unknown[]): unknown;
}

interface Pg {
  readonly Client: new (options: object) => Client;
  readonly Pool: new (options: object) => object;
}

const pg = createRequire(__filename)('pg') as Pg;

/** Like the client of `pg-native`, without the socket and the id of the session. */
class ClientWithoutSocket extends EventEmitter {
  /** Read by the pool. */
  _queryable = true;
  _ending = false;
  readonly #client: Client;
  #isConnected = false;

  constructor(options: object) {
    super();
    this.#client = new pg.Client(options);
    this.#client.on('error', (error: unknown) => {
      this._queryable = false;
      this.emit('error', error);
    });
  }

  connect(done: Callback): void {
    this.#client.connect((error) => {
      this.#isConnected = !error;
      done(error);
    });
  }

  /** Without effect, as with `pg-native`. */
  ref(): void {}
  unref(): void {}

  isConnected(): boolean {
    return this.#isConnected;
  }

  query(...parameters: unknown[]): unknown {
    return this.#client.query(...parameters);
  }

  async end(done?: Callback): Promise<void> {
    this._ending = true;
    this.#client.connection.stream.destroy();
    if (done) setImmediate(done);
    return Promise.resolve();
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
