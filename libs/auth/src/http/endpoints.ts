import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { ResolvedAuthExtras } from '../options/auth-options';
import { AuthController, PasswordController, ReauthenticationController } from './auth.controller';
import { classesOf, handlersServing, type MountedRoute, shapeOf, withoutHandlers } from './platform';
import { SessionsController } from './sessions.controller';

type Endpoints = ResolvedAuthExtras['endpoints'];

/** The controller and the handlers of each endpoint. */
const HANDLERS: { readonly [Name in keyof Endpoints]: readonly [controller: Type, ...handlers: string[]] } = {
  login: [AuthController, 'login'],
  refresh: [AuthController, 'refresh', 'probe'],
  logout: [AuthController, 'logout'],
  logoutAll: [AuthController, 'logoutAll'],
  sessions: [SessionsController, 'list', 'revoke'],
  history: [SessionsController, 'history'],
  passwordChange: [PasswordController, 'change'],
  reauthenticate: [ReauthenticationController, 'reauthenticate'],
};

const NAMES = Object.keys(HANDLERS) as (keyof Endpoints)[];

/** Returns the controllers with the handlers of the chosen endpoints. */
export function controllersOf(endpoints: Endpoints): readonly Type[] {
  return [...new Set(NAMES.map((name) => HANDLERS[name][0]))].flatMap((controller) => {
    const names = NAMES.filter((name) => HANDLERS[name][0] === controller);
    const unmounted = names.filter((name) => !endpoints[name]);
    if (unmounted.length === names.length) return [];
    const handlers = unmounted.flatMap((name) => HANDLERS[name].slice(1) as string[]);
    return [handlers.length === 0 ? controller : withoutHandlers(controller, handlers)];
  });
}

/** Describes each route that both the library and the application serve. */
export function conflictingRoutes(routes: readonly MountedRoute[], modules: ModulesContainer): readonly string[] {
  const library = NAMES.map((name) => HANDLERS[name][0]);
  const isOwn = (type: Type): boolean => library.some((one) => one === type || type.prototype instanceof one);
  return routes.flatMap((route) => {
    const { method, path, isOfLibrary } = route;
    // Fastify adds a route for HEAD to each route for GET.
    if (!isOfLibrary || method === 'HEAD') return [];
    const isSame = (one: MountedRoute): boolean => one.method === method && shapeOf(one.path) === shapeOf(path);
    const other = routes.find((one) => !one.isOfLibrary && isSame(one));
    if (!other) return [];
    const classes = classesOf(modules);
    const [handler] = handlersServing(route, classes.filter(isOwn));
    const name = NAMES.find((one) => HANDLERS[one].some((it) => handler?.endsWith(`.${String(it)}`)));
    const others = classes.filter((type) => !isOwn(type));
    const names = handlersServing(other, others).join(' or ') || 'a handler without a controller';
    return [`${method} ${path} (endpoints.${name}) and ${names}`];
  });
}
