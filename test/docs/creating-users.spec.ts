import { ValidationPipe, type INestApplication, type Type } from '@nestjs/common';
import { foldName } from 'nestjs-session-auth';
import { describeApplication } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksUnder } from './code-blocks';
import { runBlock } from './run-block';

const [bearer] = blocksUnder('docs/creating-users.md', '## A username and a password');
const { SignUpController } = runBlock<{ SignUpController: Type }>(bearer!);

const options = {
  controllers: [SignUpController],
  auth: { nameMatching: 'insensitive' as const },
  configure: (nest: INestApplication) => void nest.useGlobalPipes(new ValidationPipe()),
};

describeApplication('the sign-up route in docs/creating-users.md', options, (env) => {
  const signUp = (email: unknown) => env.app.http.post('/sign-up').send({ email, password: PASSWORD });

  it('the route creates a user and opens a session', async () => {
    const { status, body } = await signUp('Carol@example.com');
    expect([status, body]).toEqual([201, expect.objectContaining({ token_type: 'Bearer' })]);
  });

  it.each([
    ['folds to a different address', '＜mallory＠evil.example＞x@corp.example'],
    ['folds to the address of somebody else', 'ªlice@example.com'],
    ['has a domain in Unicode', 'carol@straẞe.example'],
    ['contains a line break within quotes', '"a\r\nBcc: bob@example.com"@example.com'],
    ['contains an invisible character', 'carol\u200b@example.com'],
    ['is a list', ['carol@example.com']],
  ])('the route refuses an address that %s', async (_, email) => {
    const { status, body } = await signUp(email);
    expect([status, (body as { message: unknown }).message]).toEqual([400, ['email must be an address']]);
    const users: { username: string }[] = await env.app.dataSource.query('SELECT username FROM auth_users');
    expect(users.map(({ username }) => username)).not.toContain(foldName(String(email)));
  });
});
