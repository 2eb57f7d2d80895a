import { createDatabase } from '../support/databases';
import { Host } from '../support/host';
import { historyOf, stories, type Stage } from './stories';

const HOME = { ipAddress: '192.0.2.1' };
const CAFE = { ipAddress: '198.51.100.7' };
const IPV6 = { ipAddress: '2001:db8:1:2::1' };

const networkStored = async (host: Host): Promise<string | null> =>
  (await host.dataSource.query('SELECT last_network FROM auth_sessions'))[0].last_network;

for (const auth of [{}, { refreshReuseGraceSeconds: 10 }]) {
  stories(`a session that moves between networks, with ${JSON.stringify(auth)},`, { auth }, (at: Stage) => {
    const open = async (client: object): Promise<{ refreshToken: string; sessionId: string }> => {
      const [{ id }] = await at.host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
      return at.host.auth.openSession(id, client);
    };
    const moves = (): string[][] => at.host.sent('session_network_changed').map(({ from, to }) => [from, to]);

    it('is recorded and signalled with each refresh from another network than the one before', async () => {
      const { host } = at;
      const opened = await open(HOME);
      const first = await host.auth.refresh(opened.refreshToken, HOME);
      expect(moves()).toEqual([]);
      const second = await host.auth.refresh(first.refreshToken, CAFE);
      expect(host.sent('session_network_changed')).toEqual([
        {
          userId: expect.any(String),
          session: expect.objectContaining({ id: opened.sessionId, state: 'active', ipAddress: HOME.ipAddress }),
          from: '192.0.2.1',
          to: '198.51.100.7',
        },
      ]);
      const third = await host.auth.refresh(second.refreshToken, CAFE);
      const fourth = await host.auth.refresh(third.refreshToken, IPV6);
      const last = await host.auth.refresh(fourth.refreshToken, { ipAddress: '2001:db8:1:2:ffff::9' });
      expect(moves()).toEqual([
        ['192.0.2.1', '198.51.100.7'],
        ['198.51.100.7', '2001:db8:1:2::/64'],
      ]);
      const extras = (await historyOf(host, last.accessToken)).map(({ extra }) => extra);
      expect(extras).toEqual([{}, { network_changed: true }, {}, { network_changed: true }, {}, {}]);
    });

    it('is not reported as moved where an address is unknown, and compared with the last known one', async () => {
      const { host } = at;
      const unknown = await host.auth.refresh((await open({})).refreshToken, HOME);
      const lost = await host.auth.refresh(unknown.refreshToken, {});
      const same = await host.auth.refresh(lost.refreshToken, HOME);
      expect(moves()).toEqual([]);
      await host.auth.refresh(same.refreshToken, CAFE);
      expect(moves()).toEqual([['192.0.2.1', '198.51.100.7']]);
      expect(await networkStored(host)).toBe('198.51.100.7');
    });
  });
}

stories('a session whose addresses are not tracked', { auth: { trackIps: false } }, (at: Stage) => {
  it('has no network stored, and is not reported as moved', async () => {
    const { host } = at;
    const [{ id }] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
    const opened = await host.auth.openSession(id, HOME);
    expect(await networkStored(host)).toBeNull();
    const { accessToken } = await host.auth.refresh(opened.refreshToken, CAFE);
    expect(await networkStored(host)).toBeNull();
    expect(host.sent('session_network_changed')).toEqual([]);
    expect((await historyOf(host, accessToken)).map(({ extra }) => extra)).toEqual([{}, {}]);
  });
});

it('a session that moves while the refresh token is not rotated is reported as well', async () => {
  const database = await createDatabase('sqlite');
  const host = await Host.start({ database, auth: { rotateRefreshTokens: false } });
  const [{ id }] = await host.dataSource.query(`SELECT id FROM auth_users WHERE username = 'alice'`);
  const { refreshToken } = await host.auth.openSession(id, HOME);
  for (const client of [CAFE, CAFE, HOME]) await host.auth.refresh(refreshToken, client);
  expect(host.sent('session_network_changed').map(({ to }) => to)).toEqual(['198.51.100.7', '192.0.2.1']);
  await host.close();
  await database.drop();
});
