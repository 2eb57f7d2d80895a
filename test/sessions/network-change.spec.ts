import type { TestApplication } from '../support/test-application';
import { describeOnEachDatabase } from '../support/environment';

const HOME = { ipAddress: '192.0.2.1' };
const CAFE = { ipAddress: '198.51.100.7' };
const IPV6 = { ipAddress: '2001:db8:1:2::1' };

const networkStored = async (app: TestApplication): Promise<string | null> =>
  (await app.dataSource.query('SELECT last_network FROM auth_sessions'))[0].last_network;

for (const auth of [{}, { refreshReuseGraceSeconds: 10 }]) {
  describeOnEachDatabase(`sessions that change networks, with ${JSON.stringify(auth)}`, { auth }, ({ app }) => {
    const open = async (client: object) => app.auth.openSession(await app.userId(), client);
    const moves = (): string[][] => app.sent('session_network_changed').map(({ from, to }) => [from, to]);

    it('each refresh from a different network than the previous refresh is recorded and emitted', async () => {
      const opened = await open(HOME);
      const first = await app.auth.refresh(opened.refreshToken, HOME);
      expect(moves()).toEqual([]);
      const second = await app.auth.refresh(first.refreshToken, CAFE);
      expect(app.sent('session_network_changed')).toEqual([
        {
          userId: expect.any(String),
          session: expect.objectContaining({ id: opened.sessionId, state: 'active', ipAddress: HOME.ipAddress }),
          from: '192.0.2.1',
          to: '198.51.100.7',
        },
      ]);
      const third = await app.auth.refresh(second.refreshToken, CAFE);
      const fourth = await app.auth.refresh(third.refreshToken, IPV6);
      const last = await app.auth.refresh(fourth.refreshToken, { ipAddress: '2001:db8:1:2:ffff::9' });
      expect(moves()).toEqual([
        ['192.0.2.1', '198.51.100.7'],
        ['198.51.100.7', '2001:db8:1:2::/64'],
      ]);
      const extras = (await app.history(last.accessToken)).map(({ extra }) => extra);
      expect(extras).toEqual([{}, { network_changed: true }, {}, { network_changed: true }, {}, {}]);
    });

    it('an unknown address is not reported as a network change, and the next address is compared with the last known one', async () => {
      const unknown = await app.auth.refresh((await open({})).refreshToken, HOME);
      const lost = await app.auth.refresh(unknown.refreshToken, {});
      const same = await app.auth.refresh(lost.refreshToken, HOME);
      expect(moves()).toEqual([]);
      const lostAgain = await app.auth.refresh(same.refreshToken, {});
      await app.auth.refresh(lostAgain.refreshToken, CAFE);
      expect(moves()).toEqual([['192.0.2.1', '198.51.100.7']]);
      expect(await networkStored(app)).toBe('198.51.100.7');
    });
  });
}
