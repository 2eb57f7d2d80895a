import { AUTH_ENTITIES, type LoginPolicy } from 'nestjs-session-auth';
import { describeApplication, userIdOf } from '../support/environment';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

type Account = new () => { userId: string; suspended: boolean; admin: boolean; organizationId: number };

const [block] = blocksUnder('docs/session-terms.md', '## Refuse a login, or set its terms');
const { Account, AccountPolicy } = runBlock<{ Account: Account; AccountPolicy: new () => LoginPolicy }>(block!);
const options = { entities: [...AUTH_ENTITIES, Account], auth: { loginPolicy: AccountPolicy } };

describeApplication('the login policy in docs/session-terms.md', options, ({ app }) => {
  const login = async (account: object, methods: readonly string[]) => {
    const userId = await userIdOf(app);
    const all = { userId, suspended: false, admin: false, organizationId: 7, ...account };
    await app.dataSource.getRepository(Account).save(all);
    return app.auth.openSession(userId, {}, { methods });
  };

  it('the policy stores the organization, and gives administrators shorter sessions', async () => {
    const opened = [await login({}, ['pwd']), await login({ admin: true }, ['hwk'])];
    const start = app.clock.now();
    const ends = opened.map(({ refreshTokenExpiresAt }) => (refreshTokenExpiresAt.getTime() - start) / 1000);
    expect(ends).toEqual([604_800, 28_800]);
    expect(opened.map(({ persistent }) => persistent)).toEqual([true, false]);
    const principal = await app.auth.authenticate(opened[1]!.accessToken);
    expect(principal!.data).toEqual({ organizationId: 7 });
  });

  it.each([
    ['a suspended user', { suspended: true }, 'account_suspended'],
    ['an administrator without a passkey', { admin: true }, 'passkey_required'],
  ])('the policy refuses %s', async (_, account, reason) => {
    await expect(login(account, ['pwd'])).rejects.toMatchObject({ code: 'login_refused', reason });
  });
});
