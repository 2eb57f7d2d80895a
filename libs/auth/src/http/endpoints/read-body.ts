import { once } from 'node:events';
import { Readable } from 'node:stream';
import { validateSync } from 'class-validator';
import { AuthError } from '../../domain/errors';
import type { AuthRequest } from '../platform/request';
import { propertiesOf } from './dto/property';

/**
 * Reads the declared fields of the body into an instance of the DTO, and validates the instance. The
 * application's pipes do not apply.
 * @throws AuthError `invalid_field`, `body_malformed`, `body_not_json`
 */
export async function readBody<Dto extends object>(type: new () => Dto, request: AuthRequest): Promise<Dto> {
  const body = (await hasBody(request)) ? jsonObject(request) : {};
  const dto = new type();
  for (const name of Object.keys(propertiesOf(type))) {
    if (Object.hasOwn(body, name)) dto[name as keyof Dto] = body[name] as Dto[keyof Dto];
  }
  const errors = validateSync(dto, { forbidUnknownValues: false });
  if (errors.length > 0) {
    const problems = errors.map((error) => [error.property, Object.values(error.constraints ?? {})] as const);
    throw new AuthError('invalid_field', 'A field is missing or invalid.', Object.fromEntries(problems));
  }
  return dto;
}

function jsonObject(request: AuthRequest): Record<string, unknown> {
  const { body } = request;
  if (!isJson(header(request, 'content-type')) || body === undefined) {
    throw new AuthError('body_not_json', 'The body must be JSON: send Content-Type: application/json.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AuthError('body_malformed', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

/**
 * Returns whether a content type is JSON, with no charset or one that begins with `utf-`. Other
 * charsets are refused, because Fastify would read them as UTF-8. (RFC 8259, section 8.1)
 */
function isJson(contentType: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType) ?? [];
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType) && /^utf-/i.test(charset);
}

async function hasBody(request: AuthRequest): Promise<boolean> {
  if (header(request, 'transfer-encoding') === '') return Number(header(request, 'content-length') || 0) > 0;
  return request.body === undefined ? !(await isEmptyStream(request)) : !isEmpty(request.body);
}

/** Returns whether a body that no parser has read is empty. */
async function isEmptyStream(request: AuthRequest): Promise<boolean> {
  if (!(request instanceof Readable) || request.readableEnded) return true;
  const [chunk] = (await Promise.race([once(request, 'data'), once(request, 'end')])) as unknown[];
  request.resume();
  return chunk === undefined;
}

/** Returns whether a parsed body may have been empty. Parsers turn an empty chunked body into an empty object. */
function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0 && !Array.isArray(body);
}

function header(request: AuthRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}
