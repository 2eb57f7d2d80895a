import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { RawAnswer } from '../../support/environment';

interface Response {
  readonly headers?: Record<string, { readonly schema: { readonly type: string } }>;
  readonly content?: Record<string, { readonly schema: Record<string, unknown> }>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly responses: Record<string, Response>;
}

/** An operation of the document, with its method and path. */
export interface OperationEntry {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** Validates responses against the document, and records which of its response schemas occurred. */
export class ResponseChecker {
  readonly seen = new Set<string>();
  private readonly ajv = new Ajv({ strict: false, allErrors: true, coerceTypes: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenAPIObject) {
    addFormats(this.ajv);
    this.ajv.addSchema(closed(document) as object, 'document');
  }

  /** The operations of the library. */
  get operations(): OperationEntry[] {
    const operations = Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, DocumentedOperation>).map(([method, operation]) => ({
        method,
        path,
        operation,
      })),
    );
    return operations.filter(({ operation }) => /^auth[A-Z]/.test(operation.operationId));
  }

  /** The keys of all response schemas in the document. Each alternative of a schema has its own key. */
  get documented(): string[] {
    return this.operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { content }]) =>
        alternatives(content!['application/json']!.schema).map((_, index) => keyOf(operation, status, index)),
      ),
    );
  }

  /** @throws Error if the response does not match the document */
  check(method: string, path: string, { status, headers, body }: RawAnswer): void {
    const entry = this.operationAt(method, path);
    const { operation } = entry;
    const response = operation.responses[String(status)];
    if (!response) throw new Error(`${operation.operationId} answered ${status}, which the document does not contain.`);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const value = headers[name.toLowerCase()];
      if (value === undefined) throw new Error(`${operation.operationId} ${status} has no ${name}.`);
      const isNumber = header.schema.type === 'integer';
      if (!this.ajv.validate(header.schema, isNumber ? Number(value) : value)) throw new Error(`${name}: ${value}`);
    }
    if (!headers['content-type']?.startsWith('application/json')) throw new Error(`${headers['content-type']}`);
    const pointer = `#/paths/${escaped(entry.path)}/${entry.method}/responses/${status}/content/application~1json/schema`;
    const { schema } = response.content!['application/json']!;
    const matched = alternatives(schema).flatMap((_, index) => {
      const where = schema['oneOf'] ? `${pointer}/oneOf/${index}` : pointer;
      return this.validator(where)(JSON.parse(body)) ? [index] : [];
    });
    if (matched.length !== 1) {
      throw new Error(
        `${operation.operationId} ${status} ${body} matches ${matched.length} documented schemas, not one.`,
      );
    }
    this.seen.add(keyOf(operation, String(status), matched[0]!));
  }

  private operationAt(method: string, path: string): OperationEntry {
    const plain = path.replace(/\?.*/, '').replace(/\/$/, '');
    const found = this.operations.filter(
      (entry) => entry.method === method.toLowerCase() && patternOf(entry.path).test(plain),
    );
    if (found.length !== 1) throw new Error(`The document has ${found.length} operations for ${method} ${path}.`);
    return found[0]!;
  }

  private validator(pointer: string): ValidateFunction {
    let validator = this.validators.get(pointer);
    if (!validator) {
      validator = this.ajv.compile({ $ref: `document${pointer}` });
      this.validators.set(pointer, validator);
    }
    return validator;
  }
}

function alternatives(schema: Record<string, unknown>): unknown[] {
  return (schema['oneOf'] as unknown[] | undefined) ?? [schema];
}

function keyOf({ operationId }: DocumentedOperation, status: string, alternative: number): string {
  return `${operationId} ${status}${alternative === 0 ? '' : ' otherwise'}`;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function escaped(path: string): string {
  return encodeURIComponent(path.replace(/~/g, '~0').replace(/\//g, '~1'));
}

/** Returns a copy of the document that allows no additional properties, so that undocumented fields are errors. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObject = copy['type'] === 'object' && typeof copy['properties'] === 'object';
  return isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}
