import type { AuthModuleOptions, AuthService, PruningService } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/bcrypt-password-hasher';
import { NodeCryptoSource } from '../../libs/auth/src/adapters/node-crypto-source';
import { compose, createUserStore, type Composition } from '../../libs/auth/src/compose';
import type { Clock } from '../../libs/auth/src/domain/ports/clock';
import { NoMetrics } from '../../libs/auth/src/domain/ports/metrics';
import { SignalBus } from '../../libs/auth/src/domain/ports/signal-bus';
import type { AuthSignalName, AuthSignals } from '../../libs/auth/src/domain/signals';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { PooledDatabase } from '../../libs/auth/src/store/sql/pooled-database';
import { SqliteDatabase } from '../../libs/auth/src/store/sql/sqlite-database';

export type Sent = {
  readonly [Name in AuthSignalName]: { readonly name: Name; readonly payload: AuthSignals[Name] };
}[AuthSignalName];

class RecordingBus extends SignalBus {
  constructor(private readonly sent: Sent[]) {
    super();
  }

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    this.sent.push({ name, payload } as Sent);
  }
}

/** The library put together without an app around it, which takes a millisecond. */
export class Instance {
  private constructor(private readonly composition: Composition) {}

  static async create(dataSource: DataSource, clock: Clock, given: AuthModuleOptions, sent: Sent[]): Promise<Instance> {
    const options = resolveOptions({ bcryptCost: 4, ...given });
    const { type } = dataSource.options;
    const database =
      type === 'better-sqlite3'
        ? new SqliteDatabase(dataSource)
        : new PooledDatabase(dataSource, type === 'postgres' ? 'postgres' : 'mysql');
    const crypto = new NodeCryptoSource();
    // The module reference makes classes that a host gives, and none is given here.
    const users = await createUserStore(undefined as never, options, dataSource, database, clock, crypto);
    const hasher = new BcryptPasswordHasher(options.bcryptCost);
    const signals = new RecordingBus(sent);
    return new Instance(
      await compose({
        options,
        dataSource,
        database,
        users,
        hasher,
        detector: null,
        clock,
        crypto,
        signals,
        metrics: new NoMetrics(),
      }),
    );
  }

  get auth(): AuthService {
    return this.composition.auth;
  }

  get pruning(): PruningService {
    return this.composition.pruning;
  }

  /** Writes the activity that is pending, as the event loop would a moment later. */
  flush(): Promise<void> {
    return this.composition.activity.flush();
  }

  stop(): Promise<void> {
    return this.composition.stop();
  }
}
