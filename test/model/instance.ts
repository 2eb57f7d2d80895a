import { createHash } from 'node:crypto';
import type { AuthSignalName, AuthSignals, AuthService, PruningService } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/bcrypt-password-hasher';
import { NodeCryptoSource } from '../../libs/auth/src/adapters/node-crypto-source';
import { compose, createUserStore, type Composition } from '../../libs/auth/src/compose';
import { SignalBus } from '../../libs/auth/src/domain/ports/signal-bus';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { PooledDatabase } from '../../libs/auth/src/store/sql/pooled-database';
import { SqliteDatabase } from '../../libs/auth/src/store/sql/sqlite-database';
import type { DrivenClock } from '../support/driven-clock';
import { RETENTION_DAYS, SECONDS, SIGNAL_AT, type ModelOptions } from './options';

export type Sent = {
  readonly [Name in AuthSignalName]: { readonly name: Name; readonly payload: AuthSignals[Name] };
}[AuthSignalName];

export class RecordingBus extends SignalBus {
  readonly sent: Sent[] = [];

  emit<Name extends AuthSignalName>(name: Name, payload: AuthSignals[Name]): void {
    this.sent.push({ name, payload } as Sent);
  }
}

/** Chance that is the same in every run, so that a run can be replayed: who is older may depend on an id. */
export class RepeatableCrypto extends NodeCryptoSource {
  private drawn = 0;

  override randomBytes(size: number): Uint8Array {
    return createHash('shake256', { outputLength: size }).update(`model ${++this.drawn}`).digest();
  }

  override uuid(): string {
    const hex = Buffer.from(this.randomBytes(16)).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/** What all instances of one run share. */
export interface Surroundings {
  readonly dataSource: DataSource;
  readonly clock: DrivenClock;
  readonly crypto: RepeatableCrypto;
  readonly signals: RecordingBus;
  readonly options: ModelOptions;
}

/** The library without an app around it, which takes a few milliseconds to start. */
export class Instance {
  private constructor(
    private readonly on: Surroundings,
    private composition: Composition,
  ) {}

  static async start(on: Surroundings): Promise<Instance> {
    return new Instance(on, await composed(on));
  }

  get auth(): AuthService {
    return this.composition.auth;
  }

  get pruning(): PruningService {
    return this.composition.pruning;
  }

  /** Writes the activity that is pending, as the event loop would a moment later. */
  settle(): Promise<void> {
    return this.composition.activity.flush();
  }

  /** A process that ends, and another in its place. */
  async restart(): Promise<void> {
    await this.stop();
    this.composition = await composed(this.on);
  }

  stop(): Promise<void> {
    return this.composition.stop();
  }
}

/** Nothing is started that runs by itself: answers are erased and rows removed when the test says so. */
async function composed({ dataSource, clock, crypto, signals, options: given }: Surroundings): Promise<Composition> {
  const { maxRowsPerUser, throttleFrom, ...rest } = given;
  const options = resolveOptions({
    ...rest,
    failedLogins: { signalAt: SIGNAL_AT, throttleFrom, windowSeconds: SECONDS.failures },
    history: { retentionDays: RETENTION_DAYS, maxRowsPerUser },
    accessTokenTtlSeconds: SECONDS.access,
    refreshTokenTtlSeconds: SECONDS.refresh,
    idleTimeoutSeconds: SECONDS.idle,
    absoluteTimeoutSeconds: SECONDS.absolute,
    activityIntervalSeconds: SECONDS.activity,
    pruneIntervalSeconds: false,
    bcryptCost: 4,
  });
  const { type } = dataSource.options;
  const database =
    type === 'better-sqlite3'
      ? new SqliteDatabase(dataSource)
      : new PooledDatabase(dataSource, type === 'postgres' ? 'postgres' : 'mysql');
  // The module reference makes classes that a host gives, and none is given here.
  const users = await createUserStore(undefined as never, options, dataSource, database, clock, crypto);
  const hasher = new BcryptPasswordHasher(options.bcryptCost);
  return compose({ options, dataSource, database, users, hasher, detector: null, clock, crypto, signals });
}
