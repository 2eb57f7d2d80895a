import type { Type } from '@nestjs/common';
import type { AuthModuleOptions } from 'nestjs-session-auth';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { DAY } from '../support/driven-clock';
import { describeApplication, restorePassword } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

const PAGE = 'docs/single-token-clients.md';
const [settings] = blocksUnder(PAGE, '## Options');
const [routes] = blocksUnder(PAGE, '## Return the token in the old field');
const { TokenController } = runBlock<{ TokenController: Type }>(routes!);
let auth: AuthModuleOptions = {};
const forRoot = (given: AuthModuleOptions): void => void (auth = given);
runBlock(settings!, { modules: { 'nestjs-session-auth': { AuthModule: { forRoot } } } });

describeApplication('a client with one token', { auth, controllers: [TokenController] }, ({ app }) => {
  const login = async (password = PASSWORD): Promise<string> => {
    const { body } = await app.http.post('/users/login').send({ email: 'alice', password }).expect(200);
    expect(Object.keys(body as object)).toEqual(['token']);
    return (body as { token: string }).token;
  };
  const expectStatus = async (token: string, status: number): Promise<void> =>
    void (await app.get('/me', token).expect(status));

  it('a used token lasts until the absolute timeout, and an unused one until the idle timeout', async () => {
    const [used, unused] = [await login(), await login()];
    for (let day = 29; day < 365; day += 29) {
      app.clock.advance(29 * DAY);
      await expectStatus(used, 200);
      await app.nest.get(Activity).flush();
      if (day === 58) await expectStatus(unused, 401);
    }
    app.clock.advance(17 * DAY);
    await expectStatus(used, 401);
  });

  it('a logout and a disabled user end the session immediately', async () => {
    const [first, second] = [await login(), await login()];
    await app.post('/auth/logout', first).expect(200);
    await expectStatus(first, 401);
    await expectStatus(second, 200);
    const { userId } = (await app.auth.authenticate(second))!;
    await app.auth.disableUser(userId);
    await expectStatus(second, 401);
    await app.auth.enableUser(userId);
  });

  it('a password change keeps the token of the request, and ends the other sessions', async () => {
    const [mine, stolen] = [await login(), await login()];
    const password = 'a different long password';
    await app.post('/users/password', mine, { oldPassword: 'wrong', password }).expect(400);
    await app.post('/users/password', mine, { oldPassword: PASSWORD, password }).expect(204);
    await expectStatus(mine, 200);
    await expectStatus(stolen, 401);
    await login(password);
    await restorePassword(app);
  });
});
