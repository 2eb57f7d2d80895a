// Compiled but never run. It fails to compile if a type of the library has become `any` in an application.
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type * as auth from 'nestjs-session-auth';
import type { hasNodeSqlite, NodeSqlite, NodeSqliteOptions } from 'nestjs-session-auth/node-sqlite';
import type { actingAs, ActingSession, CheapPasswordHasher, SignalRecorder } from 'nestjs-session-auth/testing';
import type { Repository } from 'typeorm';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export const HELD: [
  Same<ReturnType<typeof auth.AuthModule.forRoot>, DynamicModule>,
  Same<auth.AuthModuleOptions['sessionPolicy'], 'single' | 'multi' | 'max_count' | undefined>,
  Same<ReturnType<auth.AuthService['login']>, Promise<auth.OpenedSession>>,
  Same<auth.AuthError['code'], auth.AuthErrorCode>,
  Same<auth.SessionInfo['createdAt'], Date>,
  Same<auth.AuthUser['username'], string>,
  Same<auth.AuthSignals['user_logged_out']['reason'], auth.EndReason>,
  Same<auth.AuthSignals['token_reuse_detected']['userId'], auth.UserId>,
  Same<ReturnType<typeof actingAs>, Promise<ActingSession>>,
  Same<Parameters<typeof actingAs>[0], INestApplicationContext>,
  Same<ActingSession['sessionId'], string>,
  Same<CheapPasswordHasher['maxPasswordBytes'], 4096>,
  Same<ReturnType<SignalRecorder['of']>[number], auth.AuthSignals[keyof auth.AuthSignals]>,
  Same<ReturnType<typeof hasNodeSqlite>, boolean>,
  Same<NodeSqlite['inTransaction'], boolean>,
  Same<NodeSqliteOptions['timeout'], number | undefined>,
  Same<ReturnType<auth.UserStore['findByUsername']>, Promise<auth.StoredUser | null>>,
  Same<auth.UserEntityMapping['username'], string | readonly string[]>,
  // Types of other packages that the library's types are built on.
  Same<DynamicModule['global'], boolean | undefined>,
  Same<ReturnType<EventEmitter2['emit']>, boolean>,
  Same<ReturnType<Repository<auth.AuthUser>['count']>, Promise<number>>,
] extends true[]
  ? true
  : false = true;
