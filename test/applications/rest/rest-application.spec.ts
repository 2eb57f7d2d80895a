/** @jest-environment node */
import { JwtService } from '@nestjs/jwt';
import { describeVariants } from '../each-variant';
import { JWT_SECRET } from './config';

const ALICE = { email: 'alice@example.com', password: 'secret of alice' };

// Afterwards, only the application loads TypeORM.
beforeAll(() => void jest.doMock('typeorm', () => jest.requireActual<object>('typeorm-0.3.20')));

describeVariants(__dirname, ['sqlite', 'postgres'], (http) => {
  const get = (path: string, token: string) => http().get(`/api/${path}`).auth(token, { type: 'bearer' });
  const post = (path: string, token: string) => http().post(`/api/${path}`).auth(token, { type: 'bearer' });
  const logIn = (user: object) => http().post('/api/v1/auth/email/login').send(user);
  const loggedIn = async (user: object) => (await logIn(user).expect(200)).body;

  /** Signs up a new user, and returns the form that logs in. */
  async function signUp(name: string) {
    const user = { email: `${name}@example.com`, password: `secret of ${name}` };
    await http().post('/api/v1/users').send(user).expect(201);
    return user;
  }

  it('a login returns the tokens, their expiry and the user without the password', async () => {
    const { token, refreshToken, tokenExpires, user } = await loggedIn(ALICE);
    expect([typeof token, typeof refreshToken]).toEqual(['string', 'string']);
    expect(tokenExpires).toBeGreaterThan(Date.now());
    expect(user).toMatchObject({ email: ALICE.email, role: { id: 1, name: 'admin' }, deletedAt: null });
    expect(user).not.toHaveProperty('password');
    expect((await get('v1/auth/me', token).expect(200)).body).toEqual(user);
  });

  it.each([
    { fault: 'a wrong password', user: { ...ALICE, password: 'other' } },
    { fault: 'an unknown address', user: { ...ALICE, email: 'eve@example.com' } },
  ])('a login with $fault is 422', async ({ user }) => {
    const { body } = await logIn(user).expect(422);
    expect(body).toEqual({ status: 422, errors: { password: 'incorrectPassword' } });
  });

  it('only administrators list the users, in either version of the route', async () => {
    const bob = await loggedIn(await signUp('bob'));
    const alice = await loggedIn(ALICE);
    const { body: list } = await get('v1/users', alice.token).expect(200);
    expect(list).toContainEqual(bob.user);
    const { body: page } = await get('v2/users', alice.token).expect(200);
    expect(page).toEqual({ data: list, hasNextPage: false });
    for (const path of ['v1/users', 'v2/users']) {
      await get(path, bob.token).expect(403);
      await http().get(`/api/${path}`).expect(401);
    }
  });

  it('a refresh token is exchanged for tokens, and is no access token', async () => {
    const { refreshToken, user } = await loggedIn(ALICE);
    await get('v1/auth/me', refreshToken).expect(401);
    const { body } = await post('v1/auth/refresh', refreshToken).expect(200);
    expect((await get('v1/auth/me', body.token).expect(200)).body).toEqual(user);
    const unauthorized = { message: 'Unauthorized', statusCode: 401 };
    await post('v1/auth/refresh', body.token).expect(401, unauthorized);
    await post('v1/auth/refresh', 'other').expect(401, unauthorized);
  });

  it('a user logs out', async () => {
    const { token } = await loggedIn(ALICE);
    await post('v1/auth/logout', token).expect(204);
    await http().post('/api/v1/auth/logout').expect(401);
  });

  it('a deleted user can neither use tokens nor log in', async () => {
    const carol = await signUp('carol');
    const { token, refreshToken } = await loggedIn(carol);
    await http().delete('/api/v1/auth/me').auth(token, { type: 'bearer' }).expect(204);
    await get('v1/auth/me', token).expect(401);
    await post('v1/auth/refresh', refreshToken).expect(401);
    await logIn(carol).expect(422);
  });

  it('an access token that a client has since the last release works, with the role of its user', async () => {
    const { user } = await loggedIn(ALICE);
    const jwts = new JwtService({ secret: JWT_SECRET });
    const held = (use: string) => jwts.sign({ id: user.id, use }, { expiresIn: '5m' });
    await get('v1/users', held('access')).expect(200);
    await post('v1/auth/logout', held('access')).expect(204);
    await get('v1/users', held('refresh')).expect(401);
  });
});
