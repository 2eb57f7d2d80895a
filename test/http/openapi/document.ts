import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject, type SwaggerDocumentOptions } from '@nestjs/swagger';

/** Creates the document of an application as the guide describes it. */
export function documentOf(app: INestApplication, options: SwaggerDocumentOptions = {}): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Application')
    .setVersion('1')
    .addBearerAuth({ type: 'http', bearerFormat: 'opaque' })
    .build();
  return SwaggerModule.createDocument(app, config, options);
}
