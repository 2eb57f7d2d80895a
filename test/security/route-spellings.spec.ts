import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard } from 'nestjs-session-auth';
import { sendRaw } from '../e2e/stories';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host, type PlatformName } from '../support/host';

@Controller('safe')
class SafeController {
  @Get()
  @UseGuards(BearerAuthGuard)
  open(): object {
    return { content: 'gold' };
  }
}

/** Spellings of `/safe`, some of which the platforms route to it. */
const TARGETS = [
  ...['/safe', '/safe/', '/SAFE', '//safe', '/./safe', '/safe;x', '/safe?x', '/safe%2f', '\\safe'],
  ...['/s%61fe', '/%73%61%66%65', '/open/../safe', '/open/..%2fsafe'],
];
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS', 'get'];

const SETTINGS = (['express', 'fastify'] as PlatformName[]).flatMap((platform) =>
  [true, false].map((globalGuard) => ({ platform, globalGuard })),
);

describe.each(SETTINGS)('a guarded route on $platform, with globalGuard: $globalGuard', ({ platform, globalGuard }) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    host = await Host.start({ database, platform, controllers: [SafeController], auth: { globalGuard } });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  /** The requests that the handler has answered. */
  const reached = async (...headers: string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const target of [...TARGETS, ...TARGETS.map((path) => host.url + path)]) {
      for (const method of METHODS) {
        const { status, body } = await sendRaw(host, [`${method} ${target} HTTP/1.1`, ...headers]);
        if (status === 200 || body.includes('gold')) found.push(`${method} ${target.replace(host.url, 'http:')}`);
      }
    }
    return found;
  };

  it('is not reached without a token by another spelling of its path, another method or an absolute target', async () => {
    const { access_token: token } = await host.login();
    const withToken = await reached(`Authorization: Bearer ${token}`);
    expect(withToken).toEqual(expect.arrayContaining(['GET /safe', 'HEAD /safe', 'GET /safe?x', 'GET http:/safe']));
    expect(await reached()).toEqual([]);
  });
});
