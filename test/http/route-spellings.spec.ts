import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { sendRaw } from '../support/environment';
import { createDatabase, type TestDatabase } from '../support/databases';
import { TestApplication, type PlatformName } from '../support/test-application';

@Controller('safe')
class SafeController {
  @Get()
  @UseGuards(BearerAuthGuard)
  open(): object {
    return { content: 'gold' };
  }
}

/** Spellings of `/safe`. The platforms route some of these spellings to the handler of `/safe`. */
const TARGETS = [
  ...['/safe', '/safe/', '/SAFE', '//safe', '/./safe', '/safe;x', '/safe?x', '/safe%2f', '\\safe'],
  ...['/s%61fe', '/%73%61%66%65', '/open/../safe', '/open/..%2fsafe'],
];
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'get'];

const SETTINGS = (['express', 'fastify'] as PlatformName[]).flatMap((platform) =>
  [true, false].map((globalGuard) => ({ platform, globalGuard })),
);

describe.each(SETTINGS)('guarded routes on $platform, with globalGuard: $globalGuard', ({ platform, globalGuard }) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({ database, platform, controllers: [SafeController], auth: { globalGuard } });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  /** Returns the requests that reached the handler. */
  const reached = async (...headers: string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const target of [...TARGETS, ...TARGETS.map((path) => app.url + path)]) {
      for (const method of METHODS) {
        const { status, body } = await sendRaw(app, [`${method} ${target} HTTP/1.1`, ...headers]);
        if (status === 200 || body.includes('gold')) found.push(`${method} ${target.replace(app.url, 'http:')}`);
      }
    }
    return found;
  };

  it('no spelling of the path, method or absolute request target reaches a guarded route without a token', async () => {
    const { access_token: token } = await app.login();
    const withToken = await reached(`Authorization: Bearer ${token}`);
    expect(withToken).toEqual(expect.arrayContaining(['GET /safe', 'HEAD /safe', 'GET /safe?x', 'GET http:/safe']));
    expect(await reached()).toEqual([]);
  });
});
