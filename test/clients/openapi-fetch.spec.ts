import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type createClient from 'openapi-fetch';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { blocksUnder } from '../docs/code-blocks';
import { compileBlocks } from '../docs/compile-blocks';
import { CONTEXTS } from '../docs/document-contexts';
import { createDatabase, type TestDatabase } from '../support/databases';
import { TestApplication } from '../support/test-application';
import { describeHttpLibrary, OrdersController } from './http-library';
import { BOTH_TRANSPORTS, type Page } from './page';

type Api = ReturnType<typeof createClient<Record<string, Record<'get' | 'post', object>>>>;

const HEADING = '### openapi-fetch';
/** Returns the types that the command in the guide generates. */
function typesOf(document: OpenAPIObject): string {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  try {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(document));
    const cli = join(__dirname, '../../node_modules/openapi-typescript/bin/cli.js');
    return execFileSync(process.execPath, [cli, file], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const apiIn = (page: Page): Api => page.load<{ api: Api }>(HEADING).api;

describeHttpLibrary('openapi-fetch', { ended: 401 }, (page) => {
  const api = apiIn(page);
  return {
    list: async () => (await api.GET('/orders')).response.status,
    create: async (item) => (await api.POST('/orders', { body: { item } } as never)).response.status,
  };
});

describe('an openapi-fetch client generated from the OpenAPI document', () => {
  let database: TestDatabase;
  let app: TestApplication;
  let types: string;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({ database, auth: BOTH_TRANSPORTS, controllers: [OrdersController] });
    const config = new DocumentBuilder().addBearerAuth().addCookieAuth('auth_access').build();
    const document = SwaggerModule.createDocument(app.nest, config);
    types = typesOf(document);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const problemsOf = (code: string): string[] => {
    const { modules, ...rest } = CONTEXTS['docs/client.md']!;
    const blocks = blocksUnder('docs/client.md', HEADING).map((block) => ({
      ...block,
      code: `${block.code}\n${code}`,
    }));
    return compileBlocks(blocks.slice(0, 1), 'browser', {
      'docs/client.md': { ...rest, modules: { ...modules, 'api-types': types } },
    });
  };

  it("a generated client compiles with the types of the library's endpoints and of the application's routes", () => {
    const sessions = `const { data } = await api.GET('/auth/sessions');
      const ids: string[] = data!.map(({ id }) => id);
      const page = await api.GET('/auth/history', { params: { query: { limit: 10 } } });
      const login = await api.POST('/auth/login', { body: { username: 'alice', password: 'x' } });
      const orders: { item: string }[] | undefined = (await api.GET('/orders')).data;`;
    expect(problemsOf(sessions)).toEqual([]);
  }, 120_000);

  it('a generated client does not compile with a path, a body or a parameter that does not match the document', () => {
    const wrong = `await api.GET('/order');
      await api.POST('/auth/login', { body: { username: 'alice' } });
      await api.GET('/auth/history', { params: { query: { limit: 'ten' } } });`;
    expect(problemsOf(wrong)).toHaveLength(3);
  }, 120_000);
});
