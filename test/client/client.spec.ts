import type { AuthClient } from 'nestjs-session-auth-client';
import { CookieBrowser } from '../support/cookie-browser';
import { MINUTE } from '../support/driven-clock';
import { describeHttp, restorePassword } from '../support/environment';
import { PASSWORD } from '../support/test-application';

const auth = {
  cookies: { mode: 'optional', secure: false },
  endpoints: { reauthenticate: true },
  rememberMe: { idleTimeoutSeconds: 2_592_000, absoluteTimeoutSeconds: 7_776_000 },
} as const;

describe.each(['bearer', 'cookie'] as const)('transport %s', (transport) => {
  describeHttp('the client', { auth }, ({ app }) => {
    const open = (): AuthClient => new CookieBrowser(app).open(app.url, { transport }).client;

    it('the client lists and revokes sessions, returns the history and changes the password, with names in camelCase', async () => {
      const client = open();
      const { sessionId } = await client.login('alice', PASSWORD);
      const other = await app.login();
      const now = new Date(app.clock.now());
      const own = { id: sessionId, state: 'active', deviceType: 'other', createdAt: now, lastActivity: now };
      expect((await client.sessions()).find(({ isCurrent }) => isCurrent)).toMatchObject(own);
      await client.revoke(other.session_id);
      await expect(client.revoke(other.session_id)).rejects.toMatchObject({ code: 'not_found', status: 404 });
      expect((await client.history({ limit: 1 }))[0]).toEqual({
        id: expect.any(Number),
        event: 'session_revoked',
        ipAddress: '127.0.0.1',
        userAgent: expect.any(String),
        extra: { sessionId: other.session_id, reason: 'user' },
        timestamp: now,
      });
      const [revoked, login] = await client.history({ event: ['session_revoked', 'login_success'] });
      expect([revoked!.event, login!.event]).toEqual(['session_revoked', 'login_success']);
      expect(await client.history({ before: revoked!.id, limit: 1, event: 'login_success' })).toEqual([login]);
      const detail = 'A valid integer is required.';
      const invalid = { code: 'invalid_fields', status: 400, detail, fields: { limit: [detail] } };
      await expect(client.history({ limit: 0 })).rejects.toMatchObject(invalid);
      await client.reauthenticate(PASSWORD);
      await expect(client.changePassword('wrong', 'a new long password')).rejects.toMatchObject({
        code: 'invalid_fields',
        fields: { currentPassword: ['Invalid password.'] },
      });
      app.clock.advance(15 * MINUTE);
      await client.changePassword(PASSWORD, 'a new long password');
      expect((await client.fetch('/me')).status).toBe(200);
      await expect(client.login('alice', PASSWORD)).rejects.toMatchObject({
        name: 'ClientError',
        code: 'invalid_credentials',
        detail: 'Invalid credentials.',
        status: 400,
        retryAfter: null,
      });
      await app.login('alice', 'a new long password');
      expect([await client.logoutAll({ keepCurrent: true }), await client.isSignedIn()]).toEqual([1, true]);
      expect([await client.logoutAll(), await client.isSignedIn()]).toEqual([1, false]);
      const again = await client.login('alice', 'a new long password');
      await client.revoke(again.sessionId);
      expect(await client.isSignedIn()).toBe(false);
      await restorePassword(app);
    });

    it('the client asks for a remembered session only if the caller does', async () => {
      for (const [options, isRemembered] of [[{ rememberMe: true }, true] as const, [undefined, false] as const]) {
        const { sessionId } = await open().login('alice', PASSWORD, options);
        expect((await app.storedSession(sessionId)).remembered).toBe(isRemembered);
      }
    });

    it('the server responds to the question whether it can be reached, which the client asks before a refresh', async () => {
      expect((await fetch(`${app.url}/auth/token/refresh`, { method: 'HEAD' })).status).toBe(204);
    });
  });
});
