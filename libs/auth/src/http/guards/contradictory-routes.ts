import type { Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { accessDeclarations } from './route-access';

/**
 * Returns the names of handlers and classes whose decorators contradict each other, such as `@Public()` and a guard.
 */
export function contradictoryRoutes(modules: ModulesContainer): readonly string[] {
  const classes = [...modules.values()].flatMap(({ controllers, providers }) =>
    [...controllers.values(), ...providers.values()].map(({ metatype }) => metatype as Type | null),
  );
  return [...new Set(classes)].flatMap((type) => (type?.prototype ? contradictionsIn(type) : []));
}

function contradictionsIn(type: Type): string[] {
  const prototype = type.prototype as Record<string, object>;
  const handlers = new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => isContradictory(prototype[name]!))
    .map((name) => `${type.name}.${name}`);
  return isContradictory(type) ? [type.name, ...handlers] : handlers;
}

function isContradictory(target: object): boolean {
  return Object.values(accessDeclarations(target)).filter(Boolean).length > 1;
}
