import { applyDecorators, Header, HttpCode, SetMetadata } from '@nestjs/common';
import type { AuthErrorCode } from '../../domain/errors';
import type { Model, Schema } from './dto/property';

/** What the OpenAPI document says about an endpoint, besides its route, its guard and its DTOs. */
export interface Description {
  /** The operation id, from which generated clients take the names of their methods. */
  readonly id: string;
  readonly summary: string;
  readonly params?: Readonly<Record<string, Schema>>;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Model;
  /** The body of a 200: a model, a list of a model, or the sentence of a `DetailResponse`. */
  readonly returns: Model | readonly [Model] | string;
  /** The errors besides those that every such endpoint has. */
  readonly errors?: readonly AuthErrorCode[];
}

export const DESCRIPTION = 'nestjs-session-auth:description';

/**
 * Declares an endpoint: its description, and a 200 that no cache stores. Works without
 * `@nestjs/swagger`. Errors have the header already. (OAuth 2.1, token response; ASVS 14.3.2)
 */
export const AuthEndpoint = (description: Description): MethodDecorator =>
  applyDecorators(SetMetadata(DESCRIPTION, description), HttpCode(200), Header('Cache-Control', 'no-store'));
