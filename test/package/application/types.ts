// Compiled but never run. It fails to compile if a type of the library has become `any` in an application.
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import type { EventEmitter2 } from '@nestjs/event-emitter';
import type {
  AuthError,
  AuthErrorCode,
  AuthModule,
  AuthModuleOptions,
  AuthService,
  AuthSignals,
  AuthUser,
  EndReason,
  OpenedSession,
  SessionInfo,
  StoredUser,
  UserEntityMapping,
  UserId,
  UserStore,
} from 'nestjs-session-auth';
import type { hasNodeSqlite, NodeSqlite, NodeSqliteOptions } from 'nestjs-session-auth/node-sqlite';
import type { actingAs, ActingSession, CheapPasswordHasher, SignalRecorder } from 'nestjs-session-auth/testing';
import type { Repository } from 'typeorm';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export const HELD: [
  Same<ReturnType<typeof AuthModule.forRoot>, DynamicModule>,
  Same<AuthModuleOptions['sessionPolicy'], 'single' | 'multi' | 'max_count' | undefined>,
  Same<ReturnType<AuthService['login']>, Promise<OpenedSession>>,
  Same<AuthError['code'], AuthErrorCode>,
  Same<SessionInfo['createdAt'], Date>,
  Same<AuthUser['username'], string>,
  Same<AuthSignals['user_logged_out']['reason'], EndReason>,
  Same<AuthSignals['token_reuse_detected']['userId'], UserId>,
  Same<ReturnType<typeof actingAs>, Promise<ActingSession>>,
  Same<Parameters<typeof actingAs>[0], INestApplicationContext>,
  Same<ActingSession['sessionId'], string>,
  Same<CheapPasswordHasher['maxPasswordBytes'], 4096>,
  Same<ReturnType<SignalRecorder['of']>[number], AuthSignals[keyof AuthSignals]>,
  Same<ReturnType<typeof hasNodeSqlite>, boolean>,
  Same<NodeSqlite['inTransaction'], boolean>,
  Same<NodeSqliteOptions['timeout'], number | undefined>,
  Same<ReturnType<UserStore['findByUsername']>, Promise<StoredUser | null>>,
  Same<UserEntityMapping['username'], string | readonly string[]>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];

/** Types of other packages that the library's types are built on. */
export type OfOthers = [
  Same<DynamicModule['global'], boolean | undefined>,
  Same<ReturnType<EventEmitter2['emit']>, boolean>,
  Same<ReturnType<Repository<AuthUser>['count']>, Promise<number>>,
];
export const OTHERS: OfOthers = [true, true, true];
