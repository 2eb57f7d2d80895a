import { Injectable, type Type } from '@nestjs/common';
import { Browser, cookiesIn } from '../support/browser';
import { describeHttp, userIdOf } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

const BODIES: [string, object | undefined][] = [
  ['no body', undefined],
  ['an empty body', {}],
  ['a list', []],
  ['objects instead of texts', { refresh: {}, username: {}, password: {} }],
];

@Injectable()
class OldTokens {
  static userId: string | undefined;

  take(token: string): Promise<string | undefined> {
    return Promise.resolve(token === 'valid' ? OldTokens.userId : undefined);
  }
}

const [exchange] = blocksUnder('docs/moving-from-jwt.md', '## Keep users signed in');
const { ExchangeController } = runBlock<{ ExchangeController: Type }>(exchange!, {
  modules: { './old-tokens.js': { OldTokens } },
});

describeHttp(
  'the exchange in docs/moving-from-jwt.md',
  { controllers: [ExchangeController], providers: [OldTokens] },
  (env) => {
    it.each(BODIES)('the exchange responds with 400 to %s', async (_, body) => {
      expect((await env.app.http.post('/exchange').send(body)).status).toBe(400);
    });

    it('the exchange opens a session for a valid token only', async () => {
      OldTokens.userId = await userIdOf(env.app);
      const opened = await env.app.http.post('/exchange').send({ refresh: 'valid' });
      expect([opened.status, opened.body]).toEqual([
        201,
        { access_token: expect.any(String), refresh_token: expect.any(String) },
      ]);
      expect((await env.app.http.post('/exchange').send({ refresh: 'other' })).status).toBe(401);
    });
  },
);

const [pages] = blocksUnder('docs/browsers.md', '## Set cookies in your own handlers');
const { PagesController } = runBlock<{ PagesController: Type }>(pages!);
const withCookies = { controllers: [PagesController], auth: { cookies: { mode: 'only' as const } } };

describeHttp('the sign-in route in docs/browsers.md', withCookies, (env) => {
  const signIn = (body?: object) => new Browser(env.app).send('/sign-in', { method: 'POST', ...(body && { body }) });

  it.each(BODIES)('the sign-in route responds with 400 to %s', async (_, body) => {
    expect((await signIn(body)).status).toBe(400);
  });

  it('the sign-in route sets cookies and redirects', async () => {
    const response = await signIn({ username: 'alice', password: PASSWORD });
    expect([response.status, response.headers['location'], cookiesIn(response).length]).toEqual([302, '/', 2]);
  });
});
