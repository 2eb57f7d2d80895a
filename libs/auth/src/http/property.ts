/** A schema of the OpenAPI document. `required: false` marks an optional property. */
export type Schema = Readonly<Record<string, unknown>>;

/** A DTO class. */
export type Model = new () => object;

const PROPERTIES = 'nestjs-session-auth:properties';

/** Declares a property of a request or response body, with its schema in the OpenAPI document. */
export function Property(schema: Schema): PropertyDecorator {
  return ({ constructor }, name) => {
    const properties = { ...propertiesOf(constructor as Model), [name]: schema };
    Reflect.defineMetadata(PROPERTIES, properties, constructor);
  };
}

/** Returns the declared properties of a DTO class, inherited properties first. */
export function propertiesOf(model: Model): Readonly<Record<string, Schema>> {
  return (Reflect.getMetadata(PROPERTIES, model) as Record<string, Schema> | undefined) ?? {};
}

export const text = (description: string, example: string): Schema => ({ type: 'string', description, example });

export const uuid = (description: string): Schema => ({
  ...text(description, '3f2b8c1e-5d0a-4b7e-9c43-1a2b3c4d5e6f'),
  format: 'uuid',
});

export const timestamp = (description: string): Schema => ({
  ...text(`${description} ISO 8601 in UTC.`, '2026-01-15T10:23:00.123Z'),
  format: 'date-time',
});
