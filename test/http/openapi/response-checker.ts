import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { RawAnswer } from '../../support/environment';

/** Creates the document of an application as the guide describes it. */
export function documentOf(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder().setTitle('Application').setVersion('1');
  return SwaggerModule.createDocument(app, config.addBearerAuth({ type: 'http', bearerFormat: 'opaque' }).build());
}

type Schema = Record<string, unknown>;

interface Response {
  readonly headers?: Record<string, { readonly schema: { readonly type: string } }>;
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

/** An operation of the document, with its method and path. */
interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, Response>;
  readonly method: string;
  readonly path: string;
}

/** Returns the operations of the library. */
export function operationsIn({ paths }: OpenAPIObject): Operation[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries<Operation>(methods as never).map(([method, operation]) => ({ ...operation, method, path })),
    )
    .filter(({ operationId }) => /^auth[A-Z]/.test(operationId));
}

/** Validates responses against the document, and records which of its response schemas occurred. */
export class ResponseChecker {
  readonly seen = new Set<string>();
  private readonly operations: readonly Operation[];
  private readonly ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false });

  constructor(document: OpenAPIObject) {
    addFormats(this.ajv);
    this.ajv.addSchema(closed(document) as object, 'document');
    this.operations = operationsIn(document);
  }

  /** The keys of all response schemas in the document. Each alternative of a schema has its own key. */
  get documented(): string[] {
    return this.operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        pointersTo(response).map((pointer) => `${operationId} ${status}${pointer}`),
      ),
    );
  }

  /** Fails if the response does not match the document. */
  check(method: string, target: string, { status, headers, body }: RawAnswer): void {
    const plain = target.replace(/\?.*/, '').replace(/\/$/, '');
    const found = this.operations.filter((one) => one.method === method.toLowerCase() && patternOf(one).test(plain));
    expect(found).toHaveLength(1);
    const { operationId, path, responses } = found[0]!;
    expect(Object.keys(responses)).toContain(String(status));
    const response = responses[status]!;
    for (const [name, { schema }] of Object.entries(response.headers ?? {})) {
      const value = headers[name.toLowerCase()];
      expect(this.ajv.validate(schema, schema.type === 'integer' ? Number(value) : value)).toBe(true);
    }
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['cache-control']).toBe('no-store');
    const escaped = encodeURIComponent(path.replace(/\//g, '~1'));
    const base = `document#/paths/${escaped}/${method.toLowerCase()}/responses/${status}`;
    const matched = pointersTo(response).filter((pointer) => {
      const validate = this.ajv.getSchema(`${base}/content/application~1json/schema${pointer}`);
      return validate!(JSON.parse(body)) === true;
    });
    expect([operationId, status, body, matched]).toEqual([operationId, status, body, [expect.any(String)]]);
    this.seen.add(`${operationId} ${status}${matched[0]}`);
  }
}

/** Returns the pointers to the alternatives of a response's schema, relative to the schema. */
function pointersTo({ content }: Response): string[] {
  const { oneOf } = content['application/json'].schema;
  return Array.isArray(oneOf) ? oneOf.map((_, index) => `/oneOf/${index}`) : [''];
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

/** Returns a copy of the document that allows no additional properties, so that undocumented fields are errors. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}
