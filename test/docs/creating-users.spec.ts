import { ValidationPipe, type INestApplication, type Type } from '@nestjs/common';
import { AuthSession, AuthUser, foldName } from 'nestjs-session-auth';
import { Browser, cookiesIn } from '../support/browser';
import { describeApplication } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

const [bearer] = blocksUnder('docs/creating-users.md', '## A username and a password');
const [cookie] = blocksUnder('docs/creating-users.md', '### With cookies');
const controllers = runBlock<Record<string, Type>>({ ...bearer!, code: `${bearer!.code}${cookie!.code}` });

const options = {
  controllers: [controllers['SignUpController']!],
  auth: { nameMatching: 'insensitive' as const },
  configure: (nest: INestApplication) => void nest.useGlobalPipes(new ValidationPipe()),
};

describeApplication('the sign-up route in docs/creating-users.md', options, (env) => {
  const signUp = (email: unknown) => env.app.http.post('/sign-up').send({ email, password: PASSWORD });

  it('the route creates a user and opens a session', async () => {
    const { status, body } = await signUp('Carol@example.com');
    expect([status, body]).toEqual([201, expect.objectContaining({ token_type: 'Bearer' })]);
  });

  it.each([
    ['folds to a different address', '＜mallory＠evil.example＞x@corp.example'],
    ['folds to the address of somebody else', 'ªlice@example.com'],
    ['has a domain in Unicode', 'carol@straẞe.example'],
    ['contains a line break within quotes', '"a\r\nBcc: bob@example.com"@example.com'],
    ['contains an invisible character', 'carol\u200b@example.com'],
    ['is a list', ['carol@example.com']],
  ])('the route refuses an address that %s', async (_, email) => {
    const { status, body } = await signUp(email);
    expect([status, (body as { message: unknown }).message]).toEqual([400, ['email must be an address']]);
    const username = foldName(String(email));
    expect(await env.app.dataSource.manager.countBy(AuthUser, { username })).toBe(0);
  });
});

const withCookies = {
  ...options,
  controllers: [controllers['CookieSignUpController']!],
  auth: { cookies: { mode: 'only' as const } },
};

describeApplication('the sign-up route with cookies in docs/creating-users.md', withCookies, (env) => {
  const body = { email: 'carol@example.com', password: PASSWORD };

  it('the route creates no user for a request of another site', async () => {
    const browser = new Browser(env.app);
    const { status } = await browser.send('/sign-up', { method: 'POST', from: 'https://evil.test', body });
    expect([status, browser.jar]).toEqual([403, {}]);
    const { manager } = env.app.dataSource;
    expect(await manager.countBy(AuthUser, { username: body.email })).toBe(0);
    expect(await manager.count(AuthSession)).toBe(0);
  });

  it('the route sets the cookies of the new session, and returns no token', async () => {
    const response = await new Browser(env.app).send('/sign-up', { method: 'POST', body });
    expect([response.status, response.body, cookiesIn(response).length]).toEqual([201, {}, 2]);
  });
});
