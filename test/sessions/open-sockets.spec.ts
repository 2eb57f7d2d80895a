import { EventEmitter2 } from '@nestjs/event-emitter';
import { OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { describeOnEachDatabase } from '../support/environment';
import { type LoginAnswer, PASSWORD, type TestApplication } from '../support/test-application';

const REAUTHENTICATING = { auth: { endpoints: { reauthenticate: true } } };

describeOnEachDatabase('open sockets', REAUTHENTICATING, ({ app: here, start }) => {
  /** A second instance. Its check finds sessions that the first one has ended. */
  let there: TestApplication;
  let closed: string[];
  beforeEach(async () => {
    there = await start();
    closed = [];
  });

  type Opener = Parameters<OpenSockets['register']>[0];
  const open = (app: TestApplication, opener: Opener, label: string) =>
    app.nest.get(OpenSockets).register(opener, () => void closed.push(label));
  const check = (app: TestApplication): Promise<number> => app.nest.get(OpenSockets).check();
  const advance = (): void => [here, there].forEach(({ clock }) => clock.advance(1));

  it.each([
    ['a password change', '/auth/password/change', { current_password: PASSWORD, new_password: PASSWORD }],
    ['a reauthentication', '/auth/reauthenticate', { password: PASSWORD }],
  ])(
    '%s closes the sockets of its session immediately, and the check closes the sockets on other instances',
    async (_, path, body) => {
      const { session_id: id, access_token: token } = await here.login();
      open(here, id, 'here');
      open(there, id, 'there');
      advance();
      const { body: pair } = await here.post(path, token, body).expect(200);
      expect(closed).toEqual(['here']);
      open(there, id, 'there, with the new pair');
      await check(there);
      await here.expectLive(pair);
      await check(there);
      expect(closed).toEqual(['here', 'there']);
      await here.post('/auth/logout', pair.access_token).expect(200);
      await check(there);
      expect(closed).toEqual(['here', 'there', 'there, with the new pair']);
    },
  );

  it('a socket is closed if the password was changed between the check of its token and its registration', async () => {
    const { access_token: token } = await here.login();
    const principal = await there.principal(token);
    advance();
    const { body: pair } = await here.changePassword(token).expect(200);
    advance();
    open(there, principal, 'of the old token');
    open(there, await there.principal(pair.access_token), 'of the new token');
    await check(there);
    expect(closed).toEqual(['of the old token']);
  });

  it('the check closes sockets of old tokens even if the clock of the instance that changed the password is behind', async () => {
    here.clock.advance(2_000);
    const { access_token: token } = await here.login();
    open(here, await here.principal(token), 'of the old token');
    there.clock.advance(1_000);
    await there.changePassword(token).expect(200);
    await check(here);
    expect(closed).toEqual(['of the old token']);
  });

  const ENDS: Readonly<Record<string, (login: LoginAnswer) => Promise<unknown>>> = {
    'a logout': ({ access_token: token }) => here.post('/auth/logout', token).expect(200),
    'a logout everywhere': ({ access_token: token }) => here.post('/auth/logout/all', token).expect(200),
    'a revocation by the user': async ({ session_id: id }) =>
      here.delete(`/auth/sessions/${id}`, (await here.login()).access_token).expect(200),
    'a revocation by an administrator': async () =>
      here.nest.get(SessionAdministration).end({ userId: await here.userId() }, { actor: 'carol (support)' }),
    'the reuse of a refresh token': () => here.reuseToken(),
    'a password reset': async () => here.auth.resetPassword(await here.userId(), PASSWORD),
    'a check after the user was disabled in the table': async () => {
      await here.setActive('alice', false);
      await check(here);
      await here.setActive('alice', true);
    },
  };

  it.each(Object.keys(ENDS))(
    '%s closes the sockets of the ended session immediately, and no other sockets',
    async (how) => {
      const login = await here.login();
      const closeBob = open(here, (await here.login('bob')).session_id, 'of bob');
      const takeBack = open(here, login.session_id, 'taken back');
      open(here, login.session_id, 'one');
      open(here, login.session_id, 'two');
      takeBack();
      await ENDS[how]!(login);
      expect(closed).toEqual(['one', 'two']);
      closeBob();
    },
  );

  it("sockets are closed before the application's listeners are called, even if a listener throws", async () => {
    const { session_id: id, access_token: token } = await here.login();
    open(here, id, 'the socket');
    here.nest.get(EventEmitter2).once('user_logged_out', () => {
      closed.push('called the listener');
      JSON.parse('{');
    });
    await here.post('/auth/logout', token).expect(200);
    expect(closed).toEqual(['the socket', 'called the listener']);
  });
});
