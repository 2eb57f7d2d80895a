import type { INestApplication, Type } from '@nestjs/common';
import { describeHttp } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

const PAGE = 'docs/http-contract.md';
const [routes] = blocksUnder(PAGE, '## Routes of your own');
const [errors] = blocksUnder(PAGE, '## Errors of your own');
const { UsersController } = runBlock<{ UsersController: Type }>(routes!);
const { useOwnErrors } = runBlock<{ useOwnErrors: (app: INestApplication) => void }>(errors!);

const options = {
  controllers: [UsersController],
  configure: useOwnErrors,
  auth: {
    endpoints: { login: false, refresh: false, logout: false, passwordChange: false },
    failedLogins: { throttleFrom: 2, accountBlock: false },
  } as const,
};
const UNAUTHORIZED = { message: 'Unauthorized', statusCode: 401 };

describeHttp('the routes in docs/http-contract.md', options, ({ app }) => {
  const login = (password: unknown = PASSWORD) => app.http.post('/users/login').send({ email: 'alice', password });

  it('clients log in, refresh and log out with the fields and paths that they know', async () => {
    const { body } = await login().expect(200);
    const tokenExpires = app.clock.now() + 900_000;
    expect(body).toEqual({ token: expect.any(String), refreshToken: expect.any(String), tokenExpires });
    const { body: next } = await app.post('/users/refresh', body.refreshToken).expect(200);
    expect((await app.get('/users/me', next.token).expect(200)).body).toMatchObject({ username: 'alice' });
    await app.post('/users/logout', next.token).expect(204);
    await app.get('/users/me', next.token).expect(401, UNAUTHORIZED);
  });

  it('refusals have the status and body that clients know, and others those of the library', async () => {
    const incorrect = { errors: { password: 'incorrectPassword' } };
    for (const wrong of ['wrong', 'wrong too']) await login(wrong).expect(422, incorrect);
    await login()
      .expect(429, { errors: { password: 'tooManyAttempts' } })
      .expect('Retry-After', '30');
    await app.http.post('/users/login').send({}).expect(400);
    await app.http.post('/users/refresh').expect(422, { errors: { refresh_token: ['This field may not be blank.'] } });
    await app.post('/users/refresh', 'other').expect(401, UNAUTHORIZED);
    await app.http.get('/users/me').expect(401, UNAUTHORIZED);
    await app.http.post('/auth/login').send({ username: 'alice', password: PASSWORD }).expect(404);
  });
});
