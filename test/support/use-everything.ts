import { ApiKeys, AuthHealth, OpenSockets, SessionAdministration } from 'nestjs-session-auth';
import { Database } from '../../libs/auth/src/database/database';
import { DAY } from './driven-clock';
import { PASSWORD, type TestApplication } from './test-application';

const NEW = 'a password that is new';
let calls = 0;

/**
 * Uses every endpoint and method with two new users, and runs every statement of the library, except statements that
 * only rare failures cause. The application needs a grace period of ten seconds.
 */
export async function useEverything(app: TestApplication): Promise<void> {
  const { auth, nest, clock } = app;
  const [alice, bob] = [`alice${++calls}`, `bob${calls}`];
  for (const username of [alice, bob]) await auth.createUser({ username, password: PASSWORD });
  const administration = nest.get(SessionAdministration);
  const fail = (username: string): Promise<unknown> => auth.login({ username, password: 'wrong' }).catch(() => null);
  await fail(alice);
  await fail('nobody');
  const [first, second, third] = [await app.login(alice), await app.login(alice), await app.login(alice)];
  await app.get('/me', first.access_token).expect(200);
  clock.advance(120_000);
  await app.get('/me', first.access_token).expect(200);
  await app.get('/auth/sessions', first.access_token).expect(200);
  await app.get('/auth/history', first.access_token).expect(200);
  await app.get('/auth/history?event=logout', first.access_token).expect(200);
  const pair = (await app.refresh(first.refresh_token).expect(200)).body;
  await app.refresh(first.refresh_token).expect(200);
  await app.get('/me', pair.access_token).expect(200);
  await app.delete(`/auth/sessions/${second.session_id}`, pair.access_token).expect(200);
  const change = { current_password: PASSWORD, new_password: NEW };
  const changed = (await app.post('/auth/password/change', pair.access_token, change).expect(200)).body;
  await app.refresh(third.refresh_token).expect(400);
  const principal = await app.principal(changed.access_token);
  await auth.reauthenticate(principal, 'wrong').catch(() => undefined);
  const confirmed = await auth.reauthenticate(principal, NEW);
  await auth.refresh(confirmed.refreshToken);
  clock.advance(11_000);
  const { length: before } = app.sent('token_reuse_detected');
  await app.refresh(confirmed.refreshToken).expect(400);
  expect(app.sent('token_reuse_detected')).toHaveLength(before + 1);
  for (let i = 0; i < 6; i++) await app.login(bob);
  const session = await app.login(bob);
  nest.get(OpenSockets).register(session.session_id, () => undefined);
  await nest.get(OpenSockets).check();
  await app.post('/auth/logout/all', session.access_token, {}).expect(200);
  const last = await app.principal((await app.login(bob)).access_token);
  const { userId } = last;
  const { key } = await nest.get(ApiKeys).create(last, { name: 'deployment', scopes: ['a'] });
  // The last use of the key is written in the background.
  const run = jest.spyOn(nest.get(Database), 'run');
  await nest.get(ApiKeys).authenticate(key, ['a']);
  await Promise.all(run.mock.results.map(({ value }) => value as Promise<unknown>));
  run.mockRestore();
  await auth.logout(last);
  const { token } = await auth.createPasswordResetToken(userId);
  await auth.redeemPasswordResetToken(token, NEW);
  const verified = await auth.verifyCredentials({ username: bob, password: NEW });
  const ticket = await auth.createLoginTicket(verified.user, { methods: ['hwk'] });
  await auth.attempt({ ticket, method: 'otp' }, {}, () => false);
  await auth.attempt({ ticket, method: 'otp' }, {}, () => true);
  const owner = await app.principal((await auth.openSession({ ticket })).accessToken);
  await auth.attempt({ principal: owner, method: 'otp' }, {}, () => true);
  await auth.confirmIdentity(owner, { methods: ['hwk'] });
  for (let i = 0; i <= 20; i++) await auth.createLoginTicket(userId, { methods: ['hwk'] });
  await administration.list({ userId });
  await administration.history(userId);
  await administration.end({ userId }, { actor: 'carol' });
  await auth.disableUser(userId);
  await auth.enableUser(userId);
  await auth.forgetUser(userId);
  expect(await nest.get(AuthHealth).check()).toMatchObject({ status: 'up' });
  await auth.login({ username: alice, password: NEW });
  clock.advance(8 * DAY);
  await app.pruning.prune();
  await app.pruning.prune({ dryRun: true });
  await auth.resetFailedLogins(alice);
}
