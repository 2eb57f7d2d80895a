import type * as SwaggerModule from '@nestjs/swagger';
import type { AuthErrorCode } from '../base/errors';
import { loadOptionalPeer } from '../base/optional-peer';
import { AUTH_CONTROLLERS, type Endpoint, ENDPOINTS } from './endpoints';
import { type DescribedMode, needsNoBody, readsTransportHeader, TRANSPORT_HEADER } from './openapi';
import { codedErrors, codedName, codedProperties, nameOf, responsesOf } from './openapi-responses';
import { type Model, propertiesOf, type Schema } from './property';
import { DetailResponse } from './responses';

type Swagger = typeof SwaggerModule;

/**
 * The cookie mode for which the endpoints are described, or null before the first description. All applications of a
 * process share the controllers. If two applications use different modes, the endpoints are described for the
 * mode of the last call of `describeEndpoints`.
 */
let describedMode: DescribedMode | null = null;

/** The prefix of the metadata keys of `@nestjs/swagger`. */
const SWAGGER_METADATA = 'swagger/';

/**
 * Describes every endpoint to `@nestjs/swagger` if that package is installed. The OpenAPI document
 * contains only the mounted endpoints.
 */
export function describeEndpoints(
  mode: DescribedMode,
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail if it is not installed
  requireSwagger: () => unknown = () => require('@nestjs/swagger'),
): void {
  const consequence = 'the OpenAPI document will lack the descriptions of the endpoints.';
  const swagger = loadOptionalPeer<Swagger>('@nestjs/swagger', requireSwagger, consequence);
  if (!swagger) return;
  if (describedMode === mode) return;
  if (describedMode !== null) removeDescriptions();
  describeAll(swagger, mode);
  describedMode = mode;
}

function removeDescriptions(): void {
  const handlers = ENDPOINTS.map(({ controller, handler }) => methodOf(controller, handler).value as object);
  for (const target of [...AUTH_CONTROLLERS, ...handlers]) {
    const keys = Reflect.getOwnMetadataKeys(target).filter((key) => String(key).startsWith(SWAGGER_METADATA));
    for (const key of keys) Reflect.deleteMetadata(key, target);
  }
}

function describeAll(swagger: Swagger, mode: DescribedMode): void {
  const models = schemasOf(swagger, mode);
  for (const controller of AUTH_CONTROLLERS) {
    swagger.ApiTags('Authentication')(controller);
    swagger.ApiExtraModels(...models.values())(controller);
  }
  for (const endpoint of ENDPOINTS) decorate(endpoint, decoratorsOf(swagger, endpoint, models, mode));
}

function decoratorsOf(
  swagger: Swagger,
  endpoint: Endpoint,
  models: ReadonlyMap<string, Model>,
  mode: DescribedMode,
): MethodDecorator[] {
  const { id, summary, isPublic, body, query = {}, params = {} } = endpoint;
  return [
    swagger.ApiOperation({ operationId: id, summary }),
    // The application defines the security schemes. See docs/openapi.md.
    ...(isPublic || mode === false ? [] : [swagger.ApiCookieAuth()]),
    ...(isPublic ? [] : [swagger.ApiBearerAuth()]),
    ...(mode === 'optional' && readsTransportHeader(endpoint) ? [swagger.ApiHeader(TRANSPORT_HEADER)] : []),
    ...(body
      ? [
          swagger.ApiBody({
            type: models.get(nameOf(body))!,
            required: isRequired(body) && !needsNoBody(endpoint, mode),
          }),
        ]
      : []),
    // `explode: false` means that the items of a list are separated by commas.
    ...Object.entries(query).map(([name, schema]) =>
      swagger.ApiQuery({ name, schema, required: false, ...(schema['type'] === 'array' ? { explode: false } : {}) }),
    ),
    ...Object.entries(params).map(([name, schema]) => swagger.ApiParam({ name, schema })),
    ...Object.entries(responsesOf(endpoint, mode)).map(([status, response]) =>
      // Passes a copy, because the decorator changes its argument.
      swagger.ApiResponse({ ...response, status: Number(status) }),
    ),
  ];
}

function isRequired(body: Model): boolean {
  return Object.values(propertiesOf(body)).some(({ required }) => required !== false);
}

/** Returns a class for each schema, by schema name, because `@nestjs/swagger` reads schemas from classes. */
function schemasOf(swagger: Swagger, mode: DescribedMode): ReadonlyMap<string, Model> {
  const models = ENDPOINTS.flatMap(({ body, returns }) => [body, returns].flat()).filter(
    (model): model is Model => typeof model === 'function',
  );
  const codes: AuthErrorCode[] = ENDPOINTS.flatMap((endpoint) => codedErrors(endpoint, mode));
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
  for (const apply of decorators) apply(controller.prototype, handler, methodOf(controller, handler));
}

function methodOf({ prototype }: Endpoint['controller'], handler: string): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(prototype, handler)!;
}
