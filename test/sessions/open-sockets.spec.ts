import { EventEmitter2 } from '@nestjs/event-emitter';
import { AuthUser, OpenSockets, SessionAdministration } from 'nestjs-session-auth';

import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { TestApplication, PASSWORD, type LoginAnswer } from '../support/test-application';

describe.each(DATABASES)('open sockets on %s', (name) => {
  let database: TestDatabase;
  /** Two instances on one database. The check of each instance finds sessions that the other instance has ended. */
  let here: TestApplication;
  let there: TestApplication;
  let closed: string[];

  beforeAll(async () => {
    database = await createDatabase(name);
    here = await TestApplication.start({ database, auth: { endpoints: { reauthenticate: true } } });
    there = await TestApplication.start({ database, users: [] });
  });
  afterAll(async () => {
    await here.close();
    await there.close();
    await database.drop();
  });
  beforeEach(async () => {
    await here.reset();
    closed = [];
  });

  const open = (app: TestApplication, { session_id: id }: LoginAnswer, label: string = id): (() => void) =>
    app.nest.get(OpenSockets).register(id, () => void closed.push(label));
  const check = (app: TestApplication): Promise<number> => app.nest.get(OpenSockets).check();

  it.each([
    ['a password change', '/auth/password/change', { current_password: PASSWORD, new_password: PASSWORD }],
    ['a reauthentication', '/auth/reauthenticate', { password: PASSWORD }],
  ])(
    '%s closes the sockets of its session immediately, and the check closes the sockets on other instances',
    async (_, path, body) => {
      const login = await here.login();
      open(here, login, 'here');
      open(there, login, 'there');
      here.clock.advance(1);
      there.clock.advance(1);
      const { body: pair } = await here.post(path, login.access_token, body).expect(200);
      expect(closed).toEqual(['here']);
      open(there, login, 'there, with the new pair');
      await check(there);
      expect(closed).toEqual(['here', 'there']);
      await here.get('/me', pair.access_token).expect(200);
      await check(there);
      expect(closed).toEqual(['here', 'there']);
      await here.post('/auth/logout', pair.access_token).expect(200);
      await check(there);
      expect(closed).toEqual(['here', 'there', 'there, with the new pair']);
    },
  );

  it('a socket is closed if the password was changed between the check of its token and its registration', async () => {
    const login = await here.login();
    const principal = (await there.auth.authenticate(login.access_token))!;
    for (const app of [here, there]) app.clock.advance(1);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    const { body: pair } = await here.post('/auth/password/change', login.access_token, change).expect(200);
    there.clock.advance(1);
    there.nest.get(OpenSockets).register(principal, () => void closed.push('of the old token'));
    const current = (await there.auth.authenticate(pair.access_token))!;
    there.nest.get(OpenSockets).register(current, () => void closed.push('of the new token'));
    await check(there);
    expect(closed).toEqual(['of the old token']);
    there.nest.get(OpenSockets).closeForSessions([login.session_id]);
  });

  it('the check closes sockets of old tokens even if the clock of the instance that changed the password is behind', async () => {
    here.clock.advance(2_000);
    const login = await here.login();
    const principal = (await here.auth.authenticate(login.access_token))!;
    here.nest.get(OpenSockets).register(principal, () => void closed.push('of the old token'));
    there.clock.advance(1_000);
    const change = { current_password: PASSWORD, new_password: PASSWORD };
    await there.post('/auth/password/change', login.access_token, change).expect(200);
    there.clock.advance(1_000);
    await check(here);
    expect(closed).toEqual(['of the old token']);
  });

  const ENDS: Readonly<Record<string, (login: LoginAnswer) => Promise<unknown>>> = {
    'a logout': ({ access_token: token }) => here.post('/auth/logout', token).expect(200),
    'a logout everywhere': ({ access_token: token }) => here.post('/auth/logout/all', token).expect(200),
    'a revocation by the user': async ({ session_id: id }) => {
      await here.delete(`/auth/sessions/${id}`, (await here.login()).access_token).expect(200);
    },
    'a revocation by an administrator': async () =>
      here.nest.get(SessionAdministration).end({ userId: await here.userId() }, { actor: 'carol (support)' }),
    'the reuse of a refresh token': async ({ refresh_token: token }) => {
      await here.refresh(token).expect(200);
      await here.refresh(token).expect(400);
    },
    'a password reset': async () => here.auth.resetPassword(await here.userId(), PASSWORD),
  };

  it.each(Object.keys(ENDS))(
    '%s closes the sockets of the ended session immediately, and no other sockets',
    async (how) => {
      const login = await here.login();
      const bob = await here.login('bob');
      open(here, bob, 'of bob');
      const takeBack = open(here, login, 'taken back');
      open(here, login, 'one');
      open(here, login, 'two');
      takeBack();
      await ENDS[how]!(login);
      expect(closed).toEqual(['one', 'two']);
      here.nest.get(OpenSockets).closeForSessions([bob.session_id]);
    },
  );

  it('sockets are closed even if the event emitter throws', async () => {
    const login = await here.login();
    open(here, login, 'closed');
    const emit = jest.spyOn(here.nest.get(EventEmitter2), 'emit').mockImplementation(() => {
      throw new Error('broken');
    });
    await here.post('/auth/logout', login.access_token).expect(200);
    emit.mockRestore();
    expect(closed).toEqual(['closed']);
  });

  it('sockets are closed when their user is disabled or deleted in the table of the users', async () => {
    await here.auth.createUser({ username: 'carol', password: PASSWORD });
    open(there, await here.login('carol'), 'of carol');
    open(there, await here.login('alice'), 'of alice');
    const bob = await here.login('bob');
    open(there, bob, 'of bob');
    await here.setActive('alice', false);
    await here.dataSource.getRepository(AuthUser).delete({ username: 'carol' });
    await check(there);
    await here.setActive('alice', true);
    expect(closed.sort()).toEqual(['of alice', 'of carol']);
    there.nest.get(OpenSockets).closeForSessions([bob.session_id]);
  });
});
