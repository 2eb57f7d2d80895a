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
import { AUTH_OPTIONS, type AuthModuleExtras, type AuthModuleOptions } from './options/auth-options';
import { resolveExtras, resolveOptions } from './options/resolve-options';
import { refuseSecondModule } from './startup-checks';
import { AUTH_DATA_SOURCE } from './store/database/data-source';

/** Injects the options that shape the module. */
export const AUTH_EXTRAS = 'NESTJS_SESSION_AUTH_EXTRAS';

const built = new ConfigurableModuleBuilder<AuthModuleOptions>({ moduleName: 'NestjsSessionAuth' })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createAuthOptions')
  .setExtras<AuthModuleExtras>(resolveExtras({}), shape)
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

/** Injects the options as the application wrote them. */
export const MODULE_OPTIONS_TOKEN: string | symbol = built.MODULE_OPTIONS_TOKEN;

function shape(definition: DynamicModule, given: AuthModuleExtras): DynamicModule {
  const extras = resolveExtras(given);
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
    // `AuthModule` removes those of routes that are off: what is on may be known to a factory alone.
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
