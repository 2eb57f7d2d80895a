import type { ClassProvider, FactoryProvider, InjectionToken, Provider, Type, ValueProvider } from '@nestjs/common';
import { AUTH_OPTIONS, AuthError, AuthService, PruningService, type AuthModuleOptions } from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { AUTH_PROVIDERS } from '../../libs/auth/src/auth.module';
import { Clock } from '../../libs/auth/src/base/clock';
import { DeviceDetector } from '../../libs/auth/src/adapters/device-detector';
import { Database } from '../../libs/auth/src/database/database';
import { PooledDatabase } from '../../libs/auth/src/database/pooled-database';
import { Metrics } from '../../libs/auth/src/base/telemetry';
import { type AuthSignalName, type AuthSignals, Signals } from '../../libs/auth/src/history/signals';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/database/typeorm';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import { WITHOUT_NAMED_STATEMENTS } from '../support/databases';

export type Sent = {
  readonly [Name in AuthSignalName]: { readonly name: Name; readonly payload: AuthSignals[Name] };
}[AuthSignalName];

/** Returns the result of a call, or the code of its refusal. */
export async function outcome<T>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AuthError) return error.code;
    throw error;
  }
}

/** An emitter whose listener records every signal. */
function recordingEmitter(sent: Sent[]): EventEmitter2 {
  const record = (name: AuthSignalName, payload: unknown): void => void sent.push({ name, payload } as Sent);
  return { listeners: () => [], listenersAny: () => [record] } as unknown as EventEmitter2;
}

type Named = ClassProvider | FactoryProvider | ValueProvider;

/** Creates providers as Nest does, but a thousand times faster, because the tests need thousands of instances. */
function containerOf(providers: readonly Provider[]): <T>(token: InjectionToken<T>) => Promise<T> {
  const named = new Map(providers.map((one) => ['provide' in one ? one.provide : one, one as Type | Named]));
  const created = new Map<InjectionToken, Promise<unknown>>();

  async function create(token: InjectionToken): Promise<unknown> {
    const provider = named.get(token);
    if (!provider || 'useValue' in provider) return provider?.useValue;
    if ('useFactory' in provider) {
      const injected = (provider.inject ?? []).map((one) =>
        typeof one === 'object' && 'token' in one ? one.token : one,
      );
      return provider.useFactory(...(await Promise.all(injected.map(get))));
    }
    const type: Type = 'useClass' in provider ? provider.useClass : provider;
    const tokens = [...((Reflect.getMetadata('design:paramtypes', type) ?? []) as InjectionToken[])];
    const params = (Reflect.getMetadata('self:paramtypes', type) ?? []) as { index: number; param: InjectionToken }[];
    for (const { index, param } of params) tokens[index] = param;
    return new type(...(await Promise.all(tokens.map(get))));
  }

  function get(token: InjectionToken): Promise<never> {
    if (!created.has(token)) created.set(token, create(token));
    return created.get(token) as Promise<never>;
  }

  return get;
}

/** The library's providers, without HTTP and without an application. */
export class Instance {
  private constructor(
    readonly auth: AuthService,
    readonly pruning: PruningService,
    private readonly activity: Activity,
    private readonly database: Database,
  ) {}

  static async create(dataSource: DataSource, clock: Clock, given: AuthModuleOptions, sent: Sent[]): Promise<Instance> {
    const get = containerOf([
      ...AUTH_PROVIDERS,
      { provide: AUTH_OPTIONS, useValue: resolveOptions({ bcryptCost: 4, ...WITHOUT_NAMED_STATEMENTS, ...given }) },
      { provide: AUTH_DATA_SOURCE, useValue: dataSource },
      { provide: Clock, useValue: clock },
      { provide: DeviceDetector, useValue: null },
      { provide: Metrics, useValue: Metrics.none() },
      { provide: Signals, useValue: new Signals(() => recordingEmitter(sent), Metrics.none()) },
    ]);
    return new Instance(await get(AuthService), await get(PruningService), await get(Activity), await get(Database));
  }

  /** Writes the pending activity, which the event loop would write a moment later. */
  flush(): Promise<void> {
    return this.activity.flush();
  }

  async stop(): Promise<void> {
    await Promise.all([this.activity.beforeApplicationShutdown(), this.pruning.beforeApplicationShutdown()]);
    if (this.database instanceof PooledDatabase) await this.database.onApplicationShutdown();
  }
}
