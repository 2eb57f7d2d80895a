import type { INestApplication, Type } from '@nestjs/common';
import { AUTH_ENTITIES, type AuthModuleOptions, type ImpersonationPolicy, type LoginPolicy } from 'nestjs-session-auth';
import { Activity } from '../../libs/auth/src/sessions/activity';
import { Browser, cookiesIn } from '../support/browser';
import { DAY, MINUTE } from '../support/driven-clock';
import { bearer, describeApplication, describeHttp, restorePassword } from '../support/environment';
import { entityOf, GENERATED_ID, mappedUsers, MEMBERS_WITH_ROLES, MemberWithRoles } from '../support/mapped-users';
import { PASSWORD } from '../support/test-application';
import { codeOf } from './run-block';

const Membership = entityOf('memberships', {
  id: GENERATED_ID,
  userId: { type: 'varchar' },
  organizationId: { type: 'integer' },
});
const { OrganizationsController } = codeOf('docs/session-data.md')('## Switch the active organization', {
  modules: { './membership.entity.js': { Membership } },
});
const withMemberships = { controllers: [OrganizationsController!], entities: [...AUTH_ENTITIES, Membership] };

describeHttp('the route that switches the active organization in docs/session-data.md', withMemberships, ({ app }) => {
  it('a member switches the active organization, and other users cannot', async () => {
    const memberships = app.dataSource.getRepository<object>(Membership);
    await memberships.save({ userId: await app.userId(), organizationId: 7 });
    const { access_token: token } = await app.login();
    const activate = (id: number, of = token) => app.http.put(`/organizations/${id}/active`).set(bearer(of));
    const active = () => app.get('/organizations/active', token);
    await active().expect(200, { organizationId: null });
    await activate(7).expect(204);
    await activate(8).expect(403);
    await activate(7, (await app.login('bob')).access_token).expect(403);
    await active().expect(200, { organizationId: 7 });
    await memberships.clear();
    await active().expect(403);
  });
});

const { Account, AccountPolicy } = codeOf('docs/session-terms.md')<{
  Account: Type<{ userId: string; suspended: boolean; admin: boolean; organizationId: number }>;
  AccountPolicy: Type<LoginPolicy>;
}>('## Refuse a login, or set its terms');
const withPolicy = { entities: [...AUTH_ENTITIES, Account], auth: { loginPolicy: AccountPolicy } };

describeApplication('the login policy in docs/session-terms.md', withPolicy, ({ app }) => {
  const login = async (account: object, method: string) => {
    const userId = await app.userId();
    const all = { userId, suspended: false, admin: false, organizationId: 7, ...account };
    await app.dataSource.getRepository(Account).save(all);
    return app.auth.openSession(userId, {}, { methods: [method] });
  };

  it('the policy stores the organization, and gives administrators shorter sessions', async () => {
    for (const [opened, seconds, persistent] of [
      [await login({}, 'pwd'), 604_800, true],
      [await login({ admin: true }, 'hwk'), 28_800, false],
    ] as const) {
      expect([opened.refreshTokenExpiresAt.getTime() - app.clock.now(), opened.persistent]).toEqual([
        seconds * 1_000,
        persistent,
      ]);
      expect((await app.auth.authenticate(opened.accessToken))!.data).toEqual({ organizationId: 7 });
    }
  });

  it.each([
    ['a suspended user', { suspended: true }, 'account_suspended'],
    ['an administrator without a passkey', { admin: true }, 'passkey_required'],
  ])('the policy refuses %s', async (_, account, reason) => {
    await expect(login(account, 'pwd')).rejects.toMatchObject({ code: 'login_refused', reason });
  });
});

/** Ignores ids that it has. */
class Archive {
  readonly sent = new Map<number, string>();
  send(events: readonly { id: number; event: string }[]): void {
    for (const { id, event } of events) this.sent.set(id, event);
  }
}
class Cursor {
  next = 0;
  read = (): number => this.next;
  write = async (next: number): Promise<void> => void (this.next = next);
}
const { EventShipper } = codeOf('docs/event-feed.md')<{ EventShipper: Type<{ run(): Promise<void> }> }>(
  '## Ship events',
  { modules: { './archive.js': { Archive }, './cursor.js': { Cursor } } },
);

describeApplication('docs/event-feed.md', { providers: [Archive, Cursor, EventShipper] }, ({ app }) => {
  it('the shipper sends each event, also after it was ended between the events and the cursor', async () => {
    const [archive, cursor, shipper] = [app.nest.get(Archive), app.nest.get(Cursor), app.nest.get(EventShipper)];
    for (const username of ['alice', 'bob']) await app.login(username);
    app.clock.advance(2 * MINUTE);
    jest.spyOn(cursor, 'write').mockRejectedValueOnce(new Error('The process ends here.'));
    await expect(shipper.run()).rejects.toThrow('The process ends here.');
    await shipper.run();
    await app.login();
    app.clock.advance(2 * MINUTE);
    await shipper.run();
    expect([...archive.sent.values()]).toEqual(['login_success', 'login_success', 'login_success']);
  });
});

class OldTokens {}
const { ExchangeController } = codeOf('docs/moving-from-jwt.md')('## Keep users signed in', {
  modules: { './old-tokens.js': { OldTokens } },
});
const { PagesController } = codeOf('docs/browsers.md')('## Set cookies in your own handlers');
const withBodies = {
  controllers: [ExchangeController!, PagesController!],
  providers: [OldTokens],
  auth: { cookies: { mode: 'only' as const } },
};

describeHttp('routes of the guides that read a body', withBodies, ({ app }) => {
  const post = (path: string, body?: object) => new Browser(app).send(path, { method: 'POST', ...(body && { body }) });

  it.each([
    ['no body', undefined],
    ['an empty body', {}],
    ['a list', []],
    ['objects instead of texts', { refresh: {}, username: {}, password: {} }],
  ])('the exchange in docs/moving-from-jwt.md and the sign-in in docs/browsers.md refuse %s', async (_, body) => {
    for (const path of ['/exchange', '/sign-in']) expect((await post(path, body)).status).toBe(400);
  });

  it('the sign-in in docs/browsers.md sets cookies and redirects', async () => {
    const response = await post('/sign-in', { username: 'alice', password: PASSWORD });
    expect([response.status, response.headers['location'], cookiesIn(response).length]).toEqual([302, '/', 2]);
  });
});

const contract = codeOf('docs/http-contract.md');
const { UsersController } = contract('## Routes of your own');
const { useOwnErrors } = contract<{ useOwnErrors: (app: INestApplication) => void }>('## Errors of your own');
const withOwnRoutes = {
  controllers: [UsersController!],
  configure: useOwnErrors,
  auth: {
    endpoints: { login: false, refresh: false, logout: false, passwordChange: false },
    failedLogins: { throttleFrom: 2, accountBlock: false },
  } as const,
};
const UNAUTHORIZED = { message: 'Unauthorized', statusCode: 401 };

describeHttp('the routes in docs/http-contract.md', withOwnRoutes, ({ app }) => {
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
  });
});

const oneToken = codeOf('docs/single-token-clients.md');
const { TokenController } = oneToken('## Return the token in the old field');
let auth: AuthModuleOptions = {};
const forRoot = (given: AuthModuleOptions): void => void (auth = given);
oneToken('## Options', { modules: { 'nestjs-session-auth': { AuthModule: { forRoot } } } });

describeApplication('docs/single-token-clients.md', { auth, controllers: [TokenController!] }, ({ app }) => {
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

  it('a password change needs the old password, and keeps the token of the request', async () => {
    const token = await login();
    const password = 'a different long password';
    await app.post('/users/password', token, { oldPassword: 'wrong', password }).expect(400);
    await app.post('/users/password', token, { oldPassword: PASSWORD, password }).expect(204);
    await expectStatus(token, 200);
    await login(password);
    await restorePassword(app);
  });
});

const impersonation = codeOf('docs/impersonation.md');
const { SupportPolicy } = impersonation<{ SupportPolicy: new () => ImpersonationPolicy }>('## Allow it');
const { SupportController } = impersonation('## Begin');
const { MeController } = impersonation('## Show it, and go back');

const withSupport = {
  ...mappedUsers(MEMBERS_WITH_ROLES, { impersonationPolicy: SupportPolicy }, ['alice', 'bob']),
  controllers: [SupportController!],
};

describeHttp('the code in docs/impersonation.md', withSupport, ({ app }) => {
  const idOf = async (email: string): Promise<number> =>
    (await app.dataSource.getRepository(MemberWithRoles).findOneByOrFail({ email })).id;
  const setRoles = (email: string, roles: string[] | null): Promise<unknown> =>
    app.dataSource.getRepository(MemberWithRoles).update({ email }, { roles } as never);
  const begin = async (reason: string) => {
    const form = { userId: String(await idOf('bob')), reason };
    return app.post('/support/impersonations', (await app.login()).access_token, form);
  };

  beforeEach(async () => {
    await setRoles('alice', ['support']);
    await setRoles('bob', null);
  });

  it('support acts as a customer for half an hour', async () => {
    const { status, body } = await begin('ticket 7');
    expect([status, Date.parse(body.expires_at) - app.clock.now()]).toEqual([201, 1_800_000]);
    const principal = (await app.auth.authenticate(body.access_token))!;
    expect(principal.actor).toMatchObject({ userId: await idOf('alice'), reason: 'ticket 7' });
    const me = new MeController!() as { me(...args: unknown[]): object };
    expect(me.me(principal, { username: 'bob' })).toEqual({ username: 'bob', isImpersonated: true });
    expect(me.me(null, null)).toEqual({ username: null, isImpersonated: false });
  });

  it.each<[string, string[] | null, string[] | null, string, string]>([
    ['by an administrator without the role', ['sales'], null, 'ticket 7', 'insufficient_role'],
    ['of a user with a role', ['support'], ['sales'], 'ticket 7', 'impersonation_refused'],
    ['for a reason without a ticket', ['support'], null, 'curious', 'impersonation_refused'],
  ])('an impersonation %s is refused', async (_, ofAlice, ofBob, reason, code) => {
    await setRoles('alice', ofAlice);
    await setRoles('bob', ofBob);
    expect((await begin(reason)).body).toMatchObject({ code });
  });
});
