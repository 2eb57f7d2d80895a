import { Logger } from '@nestjs/common';
import type * as SwaggerModule from '@nestjs/swagger';
import { MODELS, type ModelName } from './models';
import { OPERATIONS, type Operation } from './operations';

type Swagger = typeof SwaggerModule;
type Model = new () => object;

/** Which of the endpoints that are not in every host are in this one. */
export interface OptionalEndpoints {
  readonly change: boolean;
  readonly reauthenticate: boolean;
}

/** Decorators add to what is there, and controllers are the same for every app of a process. */
let described = false;

/**
 * Tells `@nestjs/swagger`, where it is installed, of every endpoint, so that the host's document shows them. A host without
 * it pays one look for it. Where several apps of one process differ in their optional endpoints, the last one is told of.
 */
export function describeEndpoints(there: OptionalEndpoints, requireSwagger: () => unknown = requirePeer): void {
  const swagger = loadSwagger(requireSwagger);
  if (!swagger) return;
  if (!described) describeAll(swagger);
  described = true;
  for (const { controller, handler } of OPERATIONS) {
    const isThere = there[handler as keyof OptionalEndpoints] ?? true;
    decorate(controller, handler, [swagger.ApiExcludeEndpoint(!isThere)]);
  }
}

// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
const requirePeer = (): unknown => require('@nestjs/swagger');

function loadSwagger(requireSwagger: () => unknown): Swagger | null {
  try {
    return requireSwagger() as Swagger;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'MODULE_NOT_FOUND' || !message.startsWith("Cannot find module '@nestjs/swagger'")) {
      // No reason to serve no logins.
      new Logger('AuthModule').warn('@nestjs/swagger cannot be loaded: no document will show the endpoints.');
    }
    return null;
  }
}

function describeAll(swagger: Swagger): void {
  const models = new Map((Object.keys(MODELS) as ModelName[]).map((name) => [name, modelOf(swagger, name)]));
  for (const controller of new Set(OPERATIONS.map((operation) => operation.controller))) {
    swagger.ApiTags('Authentication')(controller);
    swagger.ApiExtraModels(...models.values())(controller);
  }
  for (const operation of OPERATIONS) {
    decorate(operation.controller, operation.handler, decoratorsOf(swagger, operation, models));
  }
}

function decoratorsOf(
  swagger: Swagger,
  operation: Operation,
  models: ReadonlyMap<ModelName, Model>,
): MethodDecorator[] {
  const { id, summary, isProtected, body, query, parameter, answers } = operation;
  return [
    swagger.ApiOperation({ operationId: id, summary }),
    ...(isProtected ? [swagger.ApiBearerAuth()] : []),
    ...(body ? [swagger.ApiBody({ type: models.get(body.model)!, required: body.required })] : []),
    ...(query ? [swagger.ApiQuery(query)] : []),
    ...(parameter ? [swagger.ApiParam(parameter)] : []),
    ...Object.entries(answers).map(([status, answer]) =>
      // Given away: the decorator writes into what it is given.
      swagger.ApiResponse({ ...answer, status: Number(status) }),
    ),
  ];
}

/** A class of this name, which is how `@nestjs/swagger` knows models. */
function modelOf(swagger: Swagger, name: ModelName): Model {
  const model = { [name]: class {} }[name]!;
  for (const [property, schema] of Object.entries(MODELS[name])) {
    swagger.ApiProperty(schema)(model.prototype, property);
  }
  return model;
}

function decorate(controller: Operation['controller'], handler: string, decorators: MethodDecorator[]): void {
  const prototype = controller.prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, handler)!;
  for (const apply of decorators) apply(prototype, handler, descriptor);
}
