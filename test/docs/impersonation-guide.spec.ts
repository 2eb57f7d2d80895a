import type { ImpersonationPolicy } from 'nestjs-session-auth';
import { describeHttp } from '../support/environment';
import { mappedUsers, MEMBERS_WITH_ROLES, MemberWithRoles } from '../support/mapped-users';
import { codeOf } from './run-block';

const code = codeOf('docs/impersonation.md');
const { SupportPolicy } = code<{ SupportPolicy: new () => ImpersonationPolicy }>('## Allow it');
const { SupportController } = code('## Begin');
const { MeController } = code('## Show it, and go back');

const options = {
  ...mappedUsers(MEMBERS_WITH_ROLES, { impersonationPolicy: SupportPolicy }, ['alice', 'bob']),
  controllers: [SupportController!],
};

describeHttp('the code in docs/impersonation.md', options, ({ app }) => {
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
    ['an administrator without the role', ['sales'], null, 'ticket 7', 'insufficient_role'],
    ['a user with a role', ['support'], ['sales'], 'ticket 7', 'impersonation_refused'],
    ['a reason without a ticket', ['support'], null, 'curious', 'impersonation_refused'],
  ])('%s is refused', async (_, ofAlice, ofBob, reason, code) => {
    await setRoles('alice', ofAlice);
    await setRoles('bob', ofBob);
    expect((await begin(reason)).body).toMatchObject({ code });
  });
});
