import { applyDecorators, Header, HttpCode, SetMetadata } from '@nestjs/common';
import type { AuthErrorCode } from '../../domain/errors';
import type { Model, Schema } from './dto/property';

/** The description of an endpoint in the OpenAPI document. */
export interface Description {
  /** The operation id, which generated clients use as the method name. */
  readonly id: string;
  readonly summary: string;
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Model;
  /** The body of a response with the status 200: a model, a list of models, or the `detail` of a `DetailResponse`. */
  readonly returns: Model | readonly [Model] | string;
  /** Errors of this endpoint, in addition to those that `responsesOf` adds. */
  readonly errors?: readonly AuthErrorCode[];
}

export const DESCRIPTION = 'nestjs-session-auth:description';

/**
 * Declares an endpoint with its description, the status 200 and `Cache-Control: no-store`. Works without
 * `@nestjs/swagger`. `LibraryRouteFilter` sets the same header on error responses. (OAuth 2.1, token
 * response; ASVS 14.3.2)
 */
export const AuthEndpoint = (description: Description): MethodDecorator =>
  applyDecorators(SetMetadata(DESCRIPTION, description), HttpCode(200), Header('Cache-Control', 'no-store'));
