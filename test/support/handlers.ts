import { applyDecorators, Controller, createParamDecorator, Get, type Type, UseGuards } from '@nestjs/common';
import { BearerAuthGuard } from 'nestjs-session-auth';

export type Decorators = readonly (ClassDecorator | MethodDecorator)[];

/** The decorators of each handler by its name, which is also its path or the name of its message. */
export type Handlers = Readonly<Record<string, Decorators>>;

/** Guards a handler or a class. */
export const GUARD = UseGuards(BearerAuthGuard);

/** Injects a property that the guard sets on an HTTP request, or null. */
export const OfRequest = createParamDecorator(
  (property: 'auth' | 'user', context): unknown => context.switchToHttp().getRequest()[property] ?? null,
);

const parameterCounts = new WeakMap<object, number>();

/** Makes a handler respond with the list of what these decorators inject. */
export function returning(...parameters: ParameterDecorator[]): MethodDecorator {
  return (target, name, { value }) => {
    parameters.forEach((parameter, index) => parameter(target, name, index));
    parameterCounts.set(value as object, parameters.length);
  };
}

interface ClassOptions {
  /** The decorator of all handlers, which another one of a handler can replace. */
  readonly mapping: (name: string) => MethodDecorator;
  readonly base?: Type;
  /** Converts what a handler returns. */
  readonly respond?: (result: unknown, name: string) => unknown;
}

/** Returns a class with decorators and handlers. Without `returning`, a handler returns `gold`. */
export function classOf(
  className: string,
  onClass: Decorators,
  handlers: Handlers,
  { mapping, base = Object, respond = (result) => result }: ClassOptions,
): Type {
  const { [className]: type } = { [className]: class extends base {} };
  for (const [name, decorators] of Object.entries(handlers)) {
    const value = (...injected: unknown[]): unknown => {
      const count = parameterCounts.get(value);
      return respond(count === undefined ? 'gold' : injected.slice(0, count), name);
    };
    // Errors of the library name the handler.
    Object.defineProperty(value, 'name', { value: name });
    const descriptor = { value, configurable: true };
    Object.defineProperty(type!.prototype, name, descriptor);
    applyDecorators(mapping(name), ...decorators)(type!.prototype as object, name, descriptor);
  }
  applyDecorators(...onClass)(type!);
  return type!;
}

/** Returns a controller, which is named after its path. Its handlers respond to GET unless they have another decorator. */
export function controllerOf(path: string, onClass: Decorators, handlers: Handlers, base?: Type): Type {
  return classOf(path, [Controller(path), ...onClass], handlers, { mapping: Get, ...(base && { base }) });
}
