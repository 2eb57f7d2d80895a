import {
  ConfigurableModuleBuilder,
  type ConfigurableModuleAsyncOptions,
  type ConfigurableModuleCls,
  type DynamicModule,
} from '@nestjs/common';
import { APP_GUARD, RouterModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AuthController } from './http/auth.controller';
import { BearerAuthGuard } from './http/bearer-auth.guard';
import { PasswordController } from './http/password.controller';
import { SessionsController } from './http/sessions.controller';
import type { AuthModuleExtras, AuthModuleOptions } from './options/auth-options';
import { DEFAULT_EXTRAS } from './options/defaults';
import { AuthOptionsError } from './options/resolve-options';

/** Injects the DataSource that the library works on; undefined where the host has none of that name. */
export const AUTH_DATA_SOURCE = 'NESTJS_SESSION_AUTH_DATA_SOURCE';
/** Injects the options that shape the module. */
export const AUTH_EXTRAS = 'NESTJS_SESSION_AUTH_EXTRAS';

const built = new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'NestjsSessionAuth' })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createAuthOptions')
  .setExtras<AuthModuleExtras>(DEFAULT_EXTRAS, shape)
  .build();

// The types are written out: inferred ones would tie the published declarations to one module system.
/** What `AuthModule.forRoot()` takes. */
export type AuthModuleRootOptions = AuthModuleOptions & AuthModuleExtras;
/** What `AuthModule.forRootAsync()` takes: where the options come from, and beside it what shapes the module. */
export type AuthModuleAsyncOptions = ConfigurableModuleAsyncOptions<AuthModuleOptions, 'createAuthOptions'> &
  AuthModuleExtras;

export const ConfigurableModuleClass: ConfigurableModuleCls<
  AuthModuleOptions,
  'forRoot',
  'createAuthOptions',
  AuthModuleExtras
> = built.ConfigurableModuleClass;

/** Injects the options as the host wrote them. */
export const MODULE_OPTIONS_TOKEN: string | symbol = built.MODULE_OPTIONS_TOKEN;

function shape(definition: DynamicModule, given: AuthModuleExtras): DynamicModule {
  const extras = { ...DEFAULT_EXTRAS, ...withoutUndefined(given) };
  checkExtras(extras);
  const { path, controllers, globalGuard, dataSource, isGlobal } = extras;
  // The name under which @nestjs/typeorm provides it.
  const token = dataSource === 'default' ? DataSource : `${dataSource}DataSource`;
  return {
    ...definition,
    global: isGlobal,
    imports: [
      ...(definition.imports ?? []),
      ...(controllers ? [RouterModule.register([{ path, module: definition.module }])] : []),
    ],
    controllers: controllers ? [AuthController, SessionsController, PasswordController] : [],
    providers: [
      ...(definition.providers ?? []),
      { provide: AUTH_EXTRAS, useValue: extras },
      {
        provide: AUTH_DATA_SOURCE,
        useFactory: (found?: DataSource) => found,
        inject: [{ token, optional: true }],
      },
      ...(globalGuard ? [{ provide: APP_GUARD, useExisting: BearerAuthGuard }] : []),
    ],
  };
}

function checkExtras(extras: typeof DEFAULT_EXTRAS): void {
  const problems: string[] = [];
  for (const name of ['controllers', 'globalGuard', 'isGlobal'] as const) {
    if (typeof extras[name] !== 'boolean') problems.push(`${name} is ${String(extras[name])}; write true or false`);
  }
  if (typeof extras.path !== 'string') problems.push(`path is ${String(extras.path)}; write a string such as 'auth'`);
  if (typeof extras.dataSource !== 'string' || extras.dataSource === '') {
    problems.push(`dataSource is ${String(extras.dataSource)}; write the name of a DataSource`);
  }
  if (problems.length > 0) throw new AuthOptionsError(problems);
}

function withoutUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}
