import type * as SwaggerModule from '@nestjs/swagger';
import type { AuthErrorCode } from '../../../domain/errors';
import { loadOptionalPeer } from '../../../optional-peer';
import { propertiesOf, type Model, type Schema } from '../dto/property';
import { DetailResponse } from '../dto/responses';
import { AUTH_CONTROLLERS, ENDPOINTS, type Endpoint } from '../endpoints';
import { codedErrors, codedName, codedProperties, nameOf, responsesOf } from './responses';

type Swagger = typeof SwaggerModule;

/** Decorators add to what is there, and all applications of a process share the controllers. */
let described = false;

/** Describes every endpoint to `@nestjs/swagger`, if it is installed. A document has those that are mounted. */
export function describeEndpoints(
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail where it is not installed
  requireSwagger: () => unknown = () => require('@nestjs/swagger'),
): void {
  const withoutIt = 'the OpenAPI document will lack the endpoints.';
  const swagger = loadOptionalPeer<Swagger>('@nestjs/swagger', requireSwagger, withoutIt);
  if (!swagger) return;
  if (!described) describeAll(swagger);
  described = true;
}

function describeAll(swagger: Swagger): void {
  const models = schemasOf(swagger);
  for (const controller of AUTH_CONTROLLERS) {
    swagger.ApiTags('Authentication')(controller);
    swagger.ApiExtraModels(...models.values())(controller);
  }
  for (const endpoint of ENDPOINTS) decorate(endpoint, decoratorsOf(swagger, endpoint, models));
}

function decoratorsOf(swagger: Swagger, endpoint: Endpoint, models: ReadonlyMap<string, Model>): MethodDecorator[] {
  const { id, summary, isPublic, body, query = {}, params = {} } = endpoint;
  return [
    swagger.ApiOperation({ operationId: id, summary }),
    ...(isPublic ? [] : [swagger.ApiBearerAuth()]),
    ...(body ? [swagger.ApiBody({ type: models.get(nameOf(body))!, required: isRequired(body) })] : []),
    // `explode: false`: the items of a list are separated by commas.
    ...Object.entries(query).map(([name, schema]) =>
      swagger.ApiQuery({ name, schema, required: false, ...(schema['type'] === 'array' ? { explode: false } : {}) }),
    ),
    ...Object.entries(params).map(([name, schema]) => swagger.ApiParam({ name, schema })),
    ...Object.entries(responsesOf(endpoint)).map(([status, response]) =>
      // A copy: the decorator changes its argument.
      swagger.ApiResponse({ ...response, status: Number(status) }),
    ),
  ];
}

function isRequired(body: Model): boolean {
  return Object.values(propertiesOf(body)).some(({ required }) => required !== false);
}

/** A class per schema, which is how `@nestjs/swagger` knows them, by the name of the schema. */
function schemasOf(swagger: Swagger): ReadonlyMap<string, Model> {
  const models = ENDPOINTS.flatMap(({ body, returns }) => [body, returns].flat()).filter(
    (model): model is Model => typeof model === 'function',
  );
  const codes: AuthErrorCode[] = ENDPOINTS.flatMap(codedErrors);
  const schemas = [
    ...[...models, DetailResponse].map((model) => [nameOf(model), propertiesOf(model)] as const),
    ...codes.map((code) => [codedName(code), codedProperties(code)] as const),
  ];
  return new Map(schemas.map(([name, properties]) => [name, classOf(swagger, name, properties)]));
}

function classOf(swagger: Swagger, modelName: string, properties: Readonly<Record<string, Schema>>): Model {
  const model = { [modelName]: class {} }[modelName]!;
  for (const [name, schema] of Object.entries(properties)) swagger.ApiProperty(schema)(model.prototype, name);
  return model;
}

function decorate({ controller, handler }: Endpoint, decorators: MethodDecorator[]): void {
  const prototype = controller.prototype as object;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, handler)!;
  for (const apply of decorators) apply(prototype, handler, descriptor);
}
