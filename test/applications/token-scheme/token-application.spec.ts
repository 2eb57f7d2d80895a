/** @jest-environment node */
import { describeVariants } from '../each-variant';

describeVariants(__dirname, ['mariadb'], (http) => {
  const get = (path: string, token: string) => http().get(`/api/${path}`).set('Authorization', `Token ${token}`);
  const change = (token: string, user: object) =>
    http().put('/api/user').set('Authorization', `Token ${token}`).send({ user });
  const logIn = (email: string, password: string) =>
    http().post('/api/users/login').send({ user: { email, password } });

  let signUps = 0;

  /** Signs up a new user, whose name begins with the given one, and returns the user of the response. */
  async function signUp(name: string) {
    const username = `${name}${++signUps}`;
    const user = { username, email: `${username}@example.com`, password: `secret of ${name}` };
    const { body } = await http().post('/api/users').send({ user }).expect(201);
    return body.user;
  }

  it('a new user is signed in, and can log in', async () => {
    const { token, ...alice } = await signUp('alice');
    expect((await get('user', token).expect(200)).body.user).toMatchObject(alice);
    const { body } = await logIn(alice.email, 'secret of alice').expect(200);
    expect(body).toEqual({ user: { ...alice, bio: '', token: expect.any(String) } });
    expect((await get('user', body.user.token).expect(200)).body.user).toMatchObject(alice);
  });

  it('a login with a wrong password or an unknown address is 422', async () => {
    const { email } = await signUp('alice');
    for (const login of [logIn(email, 'other'), logIn('eve@example.com', 'secret of alice')]) {
      await login.expect(422, { errors: { 'email or password': ['is invalid'] } });
    }
  });

  it.each(['Token', 'Token other', 'Basic YWxpY2U6c2VjcmV0', ''])(
    'a request with the header "Authorization: %s" is 401',
    async (header) => {
      await http().get('/api/user').set('Authorization', header).expect(401);
    },
  );

  it('a profile says to a signed-in user whether they follow its owner', async () => {
    const [alice, bob] = [await signUp('alice'), await signUp('bob')];
    const path = `profiles/${bob.username}`;
    const profile = (following: boolean) => ({ profile: { username: bob.username, bio: '', following } });
    await http().get(`/api/${path}`).expect(200, profile(false));
    await get(path, alice.token).expect(200, profile(false));
    await http().post(`/api/${path}/follow`).expect(401);
    await http().post(`/api/${path}/follow`).set('Authorization', `Token ${alice.token}`).expect(200, profile(true));
    await get(path, alice.token).expect(200, profile(true));
    await get(path, bob.token).expect(200, profile(false));
    await http().get(`/api/${path}`).expect(200, profile(false));
    await get(path, 'other').expect(401);
  });

  it('a user changes address, biography and password', async () => {
    const { token, email, username } = await signUp('carol');
    const changes = { email: `new-${email}`, bio: 'Reads.' };
    const { body } = await change(token, changes).expect(200);
    expect(body.user).toMatchObject({ ...changes, username });
    await logIn(changes.email, 'secret of carol').expect(200);
    const changed = await change(body.user.token, { password: 'another secret' }).expect(200);
    await get('user', changed.body.user.token).expect(200);
    await logIn(changes.email, 'another secret').expect(200);
    await logIn(changes.email, 'secret of carol').expect(422);
    await change('other', { bio: '' }).expect(401);
  });
});
