import type { INestApplication } from '@nestjs/common';

interface Swagger {
  readonly DocumentBuilder: new () => { build(): object };
  readonly SwaggerModule: {
    createDocument(
      app: INestApplication,
      config: object,
    ): { paths: Record<string, { post?: { operationId?: string; responses: object } }> };
  };
}

/** Loaded at run time and without types, because one of the applications does not install the package. */
const SWAGGER: string = '@nestjs/swagger';

/**
 * With `@nestjs/swagger` installed, asserts that the document contains the endpoints of the library. Otherwise
 * does nothing.
 */
export async function tryOpenApi(app: INestApplication): Promise<void> {
  const swagger = await import(SWAGGER).then(
    (found) => found as Swagger,
    () => null,
  );
  if (!swagger) return;
  const { paths } = swagger.SwaggerModule.createDocument(app, new swagger.DocumentBuilder().build());
  const operation = paths['/auth/login']?.post;
  if (operation?.operationId !== 'authLogin' || !('429' in operation.responses)) {
    throw new Error('The document does not contain the login.');
  }
}
