import { applyDecorators, Delete, Get, Head, Header, HttpCode, Post, SetMetadata } from '@nestjs/common';
import type * as SwaggerPackage from '@nestjs/swagger';
import { type AuthErrorCode, ERROR_RESPONSES } from '../base/errors';
import { loadOptionalPeer } from '../base/optional-peer';
import { LibraryRoute } from './platform';
import { IS_PUBLIC } from './route-rules';

/** A schema of the OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

type Model = new () => object;

type AnyDecorator = ClassDecorator & MethodDecorator & PropertyDecorator;

/** The decorators of `@nestjs/swagger`, with options of any version. */
type Swagger = Record<keyof typeof SwaggerPackage & `Api${string}`, (...options: unknown[]) => AnyDecorator> &
  Pick<typeof SwaggerPackage, 'getSchemaPath'>;

/** Returns `@nestjs/swagger`, or null. The published declarations must not contain the types of the optional peer. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would fail if it is not installed
export function loadSwagger(requireSwagger: () => unknown = () => require('@nestjs/swagger')): object | null {
  const consequence = 'the OpenAPI document will lack the descriptions of the endpoints.';
  return loadOptionalPeer<Swagger>('@nestjs/swagger', requireSwagger, consequence);
}

const swagger = loadSwagger() as Swagger | null;

/** Names a DTO in the document. The prefix `Auth` distinguishes it from the application's schemas. */
export const ApiSchema = (name: `Auth${string}`): ClassDecorator => swagger?.ApiSchema({ name }) ?? applyDecorators();

export const ApiTag = (name: string): ClassDecorator => swagger?.ApiTags(name) ?? applyDecorators();

export const ApiProperty = (schema: Schema): PropertyDecorator => swagger?.ApiProperty(schema) ?? applyDecorators();

export const text = (description: string, example: string): Schema => ({ type: 'string', description, example });

export const uuid = (description: string): Schema => ({
  ...text(description, '3f2b8c1e-5d0a-4b7e-9c43-1a2b3c4d5e6f'),
  format: 'uuid',
});

export const timestamp = (description: string): Schema => ({
  ...text(`${description} ISO 8601 in UTC.`, '2026-01-15T10:23:00.123Z'),
  format: 'date-time',
});

const DETAIL = 'A human-readable message. It may change between versions.';

/** The body of a response that contains only a message. */
@ApiSchema('AuthDetail')
export class DetailResponse {
  @ApiProperty(text(DETAIL, 'Session not found.')) detail!: string;
}

const METHODS = { GET: Get, POST: Post, DELETE: Delete };

interface Description {
  /** The operation id, which generated clients use as the method name. */
  readonly id: string;
  readonly summary: string;
  readonly isPublic?: true;
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Model;
  readonly isBodyOptional?: true;
  /** The body of a successful response: a model or a list of models. */
  readonly returns: Model | readonly [Model];
  /** The properties of the body of a successful response whose tokens are in cookies, in OpenAPI. */
  readonly returnsWithCookies?: Schema;
  /** The errors, except those that follow from the other properties. */
  readonly errors?: readonly AuthErrorCode[];
}

/** Declares an endpoint, and describes it in the OpenAPI document. (`no-store`: OAuth 2.1, token response; ASVS 14.3.2) */
export const AuthEndpoint = (method: keyof typeof METHODS, path: string, description: Description): MethodDecorator =>
  applyDecorators(
    METHODS[method](path),
    LibraryRoute(),
    HttpCode(200),
    Header('Cache-Control', 'no-store'),
    ...(description.isPublic ? [SetMetadata(IS_PUBLIC, true)] : []),
    ...(swagger ? decoratorsOf(swagger, description, method === 'POST') : []),
  );

/** Declares a route without a response body, which the OpenAPI document does not contain. */
export const ProbeEndpoint = (path: string): MethodDecorator =>
  applyDecorators(
    Head(path),
    LibraryRoute(),
    HttpCode(204),
    Header('Cache-Control', 'no-store'),
    SetMetadata(IS_PUBLIC, true),
    swagger?.ApiExcludeEndpoint() ?? applyDecorators(),
  );

const TRANSPORT_HEADER = {
  name: 'X-Auth-Transport',
  description:
    'In cookie mode, send `cookie` to get the tokens in cookies instead of the body. A refresh then reads the refresh ' +
    'cookie instead of the body, and a logout removes the cookies.',
  required: false,
  schema: { type: 'string', enum: ['cookie'] },
};

function decoratorsOf(api: Swagger, description: Description, isPost: boolean): AnyDecorator[] {
  const { id, summary, isPublic, body, isBodyOptional, query = {}, params = {} } = description;
  const codes = errorsOf(description, isPost);
  return [
    api.ApiOperation({ operationId: id, summary }),
    ...(isPublic ? [] : [api.ApiBearerAuth()]),
    ...(isPost ? [api.ApiHeader(TRANSPORT_HEADER)] : []),
    ...(body ? [api.ApiBody({ type: body, required: !isBodyOptional })] : []),
    // `explode: false` means that the items of a list are separated by commas.
    ...Object.entries(query).map(([name, schema]) =>
      api.ApiQuery({ name, schema, required: false, ...(schema['type'] === 'array' ? { explode: false } : {}) }),
    ),
    ...Object.entries(params).map(([name, schema]) => api.ApiParam({ name, schema })),
    successResponse(api, description),
    ...[...new Set(codes.map(statusOf))].map((status) => errorResponse(api, status, codes)),
  ];
}

function errorsOf({ isPublic, body, query, errors = [] }: Description, isPost: boolean): AuthErrorCode[] {
  return [
    ...(isPost ? (['body_malformed', 'body_too_large', 'body_not_json', 'cross_site_request'] as const) : []),
    ...((body ?? query) ? (['invalid_field'] as const) : []),
    ...errors,
    ...(isPublic ? [] : (['credentials_missing', 'access_token_invalid', 'credentials_ambiguous'] as const)),
    'database_unavailable',
  ];
}

const statusOf = (code: AuthErrorCode): number => ERROR_RESPONSES[code].status;

const header = (description: string, schema: Schema): Schema => ({ description, required: true, schema });

const CACHE_CONTROL = header('Caches must not store the response.', { type: 'string', enum: ['no-store'] });

const RETRY_AFTER = header('The number of seconds to wait.', { type: 'integer', minimum: 1, example: 30 });

const CHALLENGE = header('The challenge of RFC 6750, with `error="invalid_token"` if an access token was sent.', {
  type: 'string',
  example: 'Bearer realm="api", error="invalid_token"',
});

const HEADERS: Readonly<Record<number, Schema>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
};

function successResponse(api: Swagger, { returns, returnsWithCookies }: Description): AnyDecorator {
  const model = [returns].flat()[0]!;
  const ref = { $ref: api.getSchemaPath(model) };
  const inCookies = {
    type: 'object',
    description: 'In cookie mode: the tokens are in cookies.',
    additionalProperties: false,
    ...returnsWithCookies,
  };
  const body = returnsWithCookies ? { oneOf: [ref, inCookies] } : ref;
  const schema = Array.isArray(returns) ? { type: 'array', items: ref } : body;
  return applyDecorators(
    api.ApiExtraModels(model),
    api.ApiResponse({ status: 200, description: 'Success.', headers: { 'Cache-Control': CACHE_CONTROL }, schema }),
  );
}

const FIELD_ERRORS: Schema = {
  type: 'object',
  description: 'The messages by field name. Errors of no single field are under `non_field_errors`.',
  additionalProperties: { type: 'array', items: { type: 'string' }, minItems: 1 },
  minProperties: 1,
};

function errorResponse(api: Swagger, status: number, allCodes: readonly AuthErrorCode[]): AnyDecorator {
  const codes = allCodes.filter((code) => statusOf(code) === status);
  const coded = codes.filter((code) => ERROR_RESPONSES[code].body === 'detailWithCode');
  const bodies = codes.map((code) => ERROR_RESPONSES[code].body);
  const schemas = [
    ...(bodies.includes('fields') || bodies.includes('nonFieldErrors') ? [FIELD_ERRORS] : []),
    ...(coded.length > 0 ? [codedError(coded)] : []),
    ...(bodies.includes('detail') ? [{ $ref: api.getSchemaPath(DetailResponse) }] : []),
  ];
  return api.ApiResponse({
    status,
    description: `The request failed: ${codes.join(', ')}.`,
    headers: { 'Cache-Control': CACHE_CONTROL, ...HEADERS[status] },
    schema: schemas.length === 1 ? schemas[0] : { oneOf: schemas },
  });
}

function codedError(codes: readonly AuthErrorCode[]): Schema {
  // In the response, the code of the `LoginPolicy` replaces `login_refused`.
  const known = codes.filter((code) => code !== 'login_refused');
  const hasOthers = known.length < codes.length;
  const reason = hasOthers
    ? `${known.join(', ')}, or a code of the application's login policy.`
    : 'The reason for the refusal.';
  const ticket = text('A login ticket, an opaque string. The next step of the login requires it.', 'nsal_…');
  return {
    type: 'object',
    properties: {
      detail: text(DETAIL, ERROR_RESPONSES[known[0]!].message!),
      code: { ...text(reason, known[0]!), ...(hasOthers ? {} : { enum: known }) },
      ...(codes.includes('second_factor_required') ? { login_ticket: ticket } : {}),
    },
    required: ['detail', 'code'],
  };
}
