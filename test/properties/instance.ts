import type { EventEmitter2 } from '@nestjs/event-emitter';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  AUTH_OPTIONS,
  AuthError,
  AuthService,
  PruningService,
  SessionAdministration,
  type AuthModuleOptions,
  type AuthSignalName,
  type AuthSignals,
} from 'nestjs-session-auth';
import type { DataSource } from 'typeorm';
import { DeviceDetector } from '../../libs/auth/src/adapters/device-detector';
import { AUTH_PROVIDERS } from '../../libs/auth/src/auth.module';
import { Clock } from '../../libs/auth/src/base/clock';
import { Metrics } from '../../libs/auth/src/base/telemetry';
import { AUTH_DATA_SOURCE } from '../../libs/auth/src/database/typeorm';
import { Signals } from '../../libs/auth/src/history/signals';
import { resolveOptions } from '../../libs/auth/src/options/resolve-options';
import { Activity } from '../../libs/auth/src/sessions/activity';
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

/** The library's providers, without HTTP and without an application. */
export class Instance {
  readonly auth: AuthService;
  readonly pruning: PruningService;
  readonly administration: SessionAdministration;

  private constructor(private readonly module: TestingModule) {
    this.auth = module.get(AuthService);
    this.pruning = module.get(PruningService);
    this.administration = module.get(SessionAdministration);
  }

  static async create(dataSource: DataSource, clock: Clock, given: AuthModuleOptions, sent: Sent[]): Promise<Instance> {
    const providers = [
      ...AUTH_PROVIDERS,
      { provide: AUTH_OPTIONS, useValue: resolveOptions({ bcryptCost: 4, ...WITHOUT_NAMED_STATEMENTS, ...given }) },
      { provide: AUTH_DATA_SOURCE, useValue: dataSource },
      { provide: Clock, useValue: clock },
      { provide: DeviceDetector, useValue: null },
      { provide: Metrics, useValue: Metrics.none() },
      { provide: Signals, useValue: new Signals(() => recordingEmitter(sent), Metrics.none()) },
    ];
    return new Instance(await Test.createTestingModule({ providers }).compile());
  }

  /** Writes the pending activity, which the event loop would write a moment later. */
  flush(): Promise<void> {
    return this.module.get(Activity).flush();
  }

  stop(): Promise<void> {
    return this.module.close();
  }
}
