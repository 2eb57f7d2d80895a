import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Mailer } from '../../apps/sample/src/mailer';
import { SecurityEmails } from '../../apps/sample/src/security-emails';
import { describeOnEachDatabase, restorePassword } from '../support/environment';
import { PASSWORD } from '../support/test-application';
import { blocksOf, type CodeBlock } from './code-blocks';

const UA =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const send = jest.fn(() => Promise.resolve());
const options = { providers: [SecurityEmails, { provide: Mailer, useValue: { send } }] };

it('docs/notifications.md shows the listener of the sample application', () => {
  const sample = readFileSync(join(__dirname, '../../apps/sample/src/security-emails.ts'), 'utf8');
  const [{ code }] = blocksOf('docs/notifications.md') as [CodeBlock];
  expect(code.replace(/\.js'; .*/, "';").trim()).toBe(sample.trim());
});

describeOnEachDatabase('docs/notifications.md', options, ({ app }) => {
  beforeEach(() => void send.mockClear());

  it('a user receives one email with device, address and time for a new device, a new password, a reuse and a block', async () => {
    const id = await app.userId();
    const login = (ipAddress: string) =>
      app.auth.login({ username: 'alice', password: PASSWORD }, { ipAddress, userAgent: UA });
    await login('192.0.2.1');
    await login('192.0.2.1');
    expect(send).not.toHaveBeenCalled();
    const { refreshToken } = await login('192.0.2.2');
    await app.auth.refresh(refreshToken);
    await app.auth.refresh(refreshToken, { ipAddress: '192.0.2.3' }).catch(() => undefined);
    const principal = await app.principal((await login('192.0.2.1')).accessToken);
    await app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: 'another passphrase' });
    await restorePassword(app);
    for (let i = 100; i < 200; i++) {
      const wrong = { username: 'alice', password: 'wrong' };
      await app.auth.login(wrong, { ipAddress: `192.0.2.${i}` }).catch(() => undefined);
    }
    const DATE = '\\w{3}, \\d\\d \\w{3} \\d{4} [\\d:]{8} GMT';
    const expected = [
      ['New sign-in', `^Chrome on Windows, 192\\.0\\.2\\.2, ${DATE}\\. If`],
      ['You were signed out', `on Chrome on Windows was used with an old token from 192\\.0\\.2\\.3, ${DATE}\\.`],
      ['Your password was changed', `^Chrome on Windows, 192\\.0\\.2\\.1, ${DATE}\\. If`],
      ['Your password was reset', `^${DATE}\\. If`],
      ['Sign-ins are blocked', `from 192\\.0\\.2\\.199\\. Unknown networks are blocked until ${DATE}`],
    ] as const;
    expect(send.mock.calls).toEqual(expected.map(([subject, text]) => [id, subject, expect.stringMatching(text)]));
  });
});
