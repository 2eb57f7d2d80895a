import SwaggerParser from '@apidevtools/swagger-parser';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { AuthModuleOptions } from 'nestjs-session-auth';
import { Browser } from '../../support/browser';
import { createDatabase, type TestDatabase } from '../../support/databases';
import { TestApplication, PASSWORD } from '../../support/test-application';
import { ResponseChecker } from './response-checker';

const CREDENTIALS = { username: 'alice', password: PASSWORD };

interface Operation {
  readonly operationId: string;
  readonly parameters?: { readonly name: string }[];
  readonly requestBody?: { readonly required?: boolean };
}

/** Creates the document of an application as the guide describes it. */
function documentOf(app: TestApplication): OpenAPIObject {
  const config = new DocumentBuilder().addBearerAuth().build();
  return SwaggerModule.createDocument(app.nest, config);
}

describe('the OpenAPI document with cookies', () => {
  let database: TestDatabase;
  let app: TestApplication;

  const start = async (cookies?: AuthModuleOptions['cookies'], users: string[] = []): Promise<OpenAPIObject> => {
    const auth = { recentLogin: { endpoint: true }, ...(cookies ? { cookies } : {}) };
    app = await TestApplication.start({ database, auth, users });
    return documentOf(app);
  };
  beforeEach(async () => {
    database = await createDatabase('sqlite');
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const operationsIn = (document: OpenAPIObject): Operation[] =>
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods as Record<string, Operation>))
      .filter(({ operationId }) => /^auth[A-Z]/.test(operationId));

  it('the document is the same in every mode', async () => {
    const before = JSON.stringify(await start());
    for (const mode of ['optional', 'only'] as const) {
      await app.close();
      expect(JSON.stringify(await start({ mode }))).toBe(before);
    }
  });

  it('the document contains X-Auth-Transport and an optional refresh body', async () => {
    const document = await start({ mode: 'optional' });
    await SwaggerParser.validate(structuredClone(document) as never);
    for (const { operationId, parameters = [], requestBody } of operationsIn(document)) {
      const setsCookies = !/List|Revoke|History/.test(operationId);
      expect([operationId, parameters.some(({ name }) => name === 'X-Auth-Transport')]).toEqual([
        operationId,
        setsCookies,
      ]);
      if (operationId === 'authRefresh') expect(requestBody?.required).toBe(false);
    }
  });

  it.each(['optional', 'only'] as const)('the document describes the responses in cookie mode %s', async (mode) => {
    const checker = new ResponseChecker(await start({ mode }, ['alice']));
    const browser = new Browser(app);
    const calls = [
      ['/auth/login', CREDENTIALS, 'https://evil.test', 403],
      ['/auth/token/refresh', undefined, 'https://evil.test', 403],
      ['/auth/token/refresh', undefined, undefined, 400],
      ['/auth/login', CREDENTIALS, undefined, 200],
      ['/auth/token/refresh', undefined, undefined, 200],
      ['/auth/password/change', { current_password: PASSWORD, new_password: PASSWORD }, undefined, 200],
      ['/auth/reauthenticate', { password: PASSWORD }, undefined, 200],
      ['/auth/reauthenticate', { password: PASSWORD }, 'https://blog.example.com', 403],
      ['/auth/logout/all', { keep_current: true }, 'https://blog.example.com', 403],
      ['/auth/logout', undefined, 'https://blog.example.com', 403],
      ['/auth/logout', undefined, undefined, 200],
    ] as const;
    for (const [path, body, from, status] of calls) {
      const response = await browser.call(path, body, from ? { from } : {});
      expect([path, response.status]).toEqual([path, status]);
      checker.check('POST', path, { status, headers: response.headers, body: response.text, bytes: '' });
    }
    const plain = await app.http.post('/auth/login').send(CREDENTIALS);
    expect(plain.status).toBe(mode === 'only' ? 403 : 200);
    checker.check('POST', '/auth/login', { status: plain.status, headers: plain.headers, body: plain.text, bytes: '' });
  });
});
