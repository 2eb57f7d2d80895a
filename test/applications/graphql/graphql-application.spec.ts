/** @jest-environment node */
import { describeVariants } from '../each-variant';

describeVariants(__dirname, ['postgres'], (http) => {
  /** Sends an operation, and returns its data, or the code of its error. */
  async function send(query: string, token?: string) {
    const sent = http().post('/graphql').send({ query });
    if (token !== undefined) void sent.auth(token, { type: 'bearer' });
    const { data, errors } = (await sent).body;
    return errors ? (errors[0].extensions.code as string) : data;
  }

  const logIn = (email: string, password: string) =>
    send(`mutation { login(email: "${email}", password: "${password}") { accessToken refreshToken } }`);
  const refresh = (token: string) => send(`mutation { refreshToken(token: "${token}") { accessToken refreshToken } }`);

  let signUps = 0;

  async function signUp(name: string) {
    const email = `${name}${++signUps}@example.com`;
    const form = `email: "${email}", password: "secret of ${name}", firstName: "${name}"`;
    const { signUp } = await send(`mutation { signUp(${form}) { accessToken refreshToken } }`);
    return { email, ...signUp };
  }

  it('a new user is signed in, and can log in', async () => {
    const { email, accessToken } = await signUp('alice');
    const me = { me: { email, firstName: 'alice' } };
    expect(await send('{ me { email firstName } }', accessToken)).toEqual(me);
    const { login } = await logIn(email, 'secret of alice');
    expect(await send('{ me { email firstName } }', login.accessToken)).toEqual(me);
  });

  it('a login with a wrong password or an unknown address is BAD_REQUEST', async () => {
    const { email } = await signUp('alice');
    expect(await logIn(email, 'other')).toBe('BAD_REQUEST');
    expect(await logIn('eve@example.com', 'secret of alice')).toBe('BAD_REQUEST');
  });

  it('a refresh token is exchanged for tokens, and is no access token', async () => {
    const { email, accessToken, refreshToken } = await signUp('bob');
    expect(await send('{ me { email } }', refreshToken)).toBe('UNAUTHENTICATED');
    expect(await refresh(accessToken)).toBe('UNAUTHENTICATED');
    const { refreshToken: next } = await refresh(refreshToken);
    expect(await send('{ me { email } }', next.accessToken)).toEqual({ me: { email } });
    expect(await refresh('other')).toBe('UNAUTHENTICATED');
  });

  it('everybody reads posts, and signed-in users write them under their name', async () => {
    const [bob, carol] = [await signUp('bob'), await signUp('carol')];
    const write = 'mutation { createPost(title: "Tea") { title author { email } } }';
    const post = { title: 'Tea', author: { email: carol.email } };
    expect(await send(write)).toBe('UNAUTHENTICATED');
    expect(await send(write, 'other')).toBe('UNAUTHENTICATED');
    expect(await send(write, carol.accessToken)).toEqual({ createPost: post });
    expect(await send('{ posts { title author { email } } }')).toEqual({ posts: [post] });
    const own = '{ me { email } myPosts { title } }';
    expect(await send(own, carol.accessToken)).toEqual({ me: { email: carol.email }, myPosts: [{ title: 'Tea' }] });
    expect(await send(own, bob.accessToken)).toEqual({ me: { email: bob.email }, myPosts: [] });
    expect(await send(own)).toBe('UNAUTHENTICATED');
  });
});
