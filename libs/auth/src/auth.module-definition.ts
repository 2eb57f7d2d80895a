import {
  ConfigurableModuleBuilder,
  type ConfigurableModuleAsyncOptions,
  type ConfigurableModuleCls,
  type DynamicModule,
} from '@nestjs/common';
import { APP_GUARD, ModulesContainer, RouterModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AUTH_CONTROLLERS } from './http/endpoints/endpoints';
import { BearerAuthGuard } from './http/guards/bearer-auth.guard';
import { AUTH_OPTIONS, type AuthModuleOptions } from './options/auth-options';
import type { AuthModuleExtras } from './options/module-extras';
import { resolveExtras, resolveOptions } from './options/resolve-options';
import { refuseSecondModule } from './startup-checks';
import { AUTH_DATA_SOURCE } from './store/database/data-source';

/** The injection token of the complete `AuthModuleExtras`. */
export const AUTH_EXTRAS = 'NESTJS_SESSION_AUTH_EXTRAS';

const built = new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'NestjsSessionAuth' })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createAuthOptions')
  .setExtras<AuthModuleExtras>(resolveExtras({}), applyExtras)
  .build();

// The types are explicit, because inferred types would tie the published declarations to one module system.
/** The argument of `AuthModule.forRoot()`. */
export type AuthModuleRootOptions = AuthModuleOptions & AuthModuleExtras;
/**
 * The argument of `AuthModule.forRootAsync()`: the factory or class that returns the options, and the
 * `AuthModuleExtras`.
 */
export type AuthModuleAsyncOptions = ConfigurableModuleAsyncOptions<AuthModuleOptions, 'createAuthOptions'> &
  AuthModuleExtras;

export const ConfigurableModuleClass: ConfigurableModuleCls<
  AuthModuleOptions,
  'forRoot',
  'createAuthOptions',
  AuthModuleExtras
> = built.ConfigurableModuleClass;

/** The injection token of the options as the application wrote them, without extras and defaults, and unchecked. */
export const MODULE_OPTIONS_TOKEN: string | symbol = built.MODULE_OPTIONS_TOKEN;

/** Completes the module definition that Nest builds, according to the extras. */
function applyExtras(definition: DynamicModule, given: AuthModuleExtras): DynamicModule {
  const extras = resolveExtras(given);
  const { path, controllers, globalGuard, dataSource, isGlobal } = extras;
  // The injection token under which @nestjs/typeorm provides the DataSource.
  const token = dataSource === 'default' ? DataSource : `${dataSource}DataSource`;
  return {
    ...definition,
    global: isGlobal,
    imports: [
      ...(definition.imports ?? []),
      ...(controllers ? [RouterModule.register([{ path, module: definition.module }])] : []),
    ],
    // Mounts all controllers, because `forRootAsync()` does not know the options yet. `AuthModule` removes the
    // controllers of disabled routes.
    controllers: controllers ? [...AUTH_CONTROLLERS] : [],
    providers: [
      ...(definition.providers ?? []),
      { provide: AUTH_EXTRAS, useValue: extras },
      {
        provide: AUTH_OPTIONS,
        useFactory: (options: unknown, modules: ModulesContainer) => {
          refuseSecondModule(modules, definition.module);
          return resolveOptions(options, given);
        },
        inject: [MODULE_OPTIONS_TOKEN, ModulesContainer],
      },
      {
        provide: AUTH_DATA_SOURCE,
        useFactory: (found?: DataSource) => found,
        inject: [{ token, optional: true }],
      },
      ...(globalGuard ? [{ provide: APP_GUARD, useExisting: BearerAuthGuard }] : []),
    ],
  };
}
