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

/** Tells the compiler nothing: one of the hosts does without. */
const SWAGGER: string = '@nestjs/swagger';

/** Where `@nestjs/swagger` is installed the document has the endpoints of the library; without it nothing is missed. */
export async function tryOpenApi(app: INestApplication): Promise<void> {
  const swagger = await import(SWAGGER).then(
    (found) => found as Swagger,
    () => null,
  );
  if (!swagger) return;
  const { paths } = swagger.SwaggerModule.createDocument(app, new swagger.DocumentBuilder().build());
  const operation = paths['/auth/login']?.post;
  if (operation?.operationId !== 'authLogin' || !('429' in operation.responses)) {
    throw new Error('The document does not tell of the login.');
  }
}
