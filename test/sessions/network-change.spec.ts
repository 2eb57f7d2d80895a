import { describeOnEachDatabase } from '../support/environment';

const HOME = '192.0.2.1';
const CAFE = '198.51.100.7';

for (const auth of [{}, { refreshReuseGraceSeconds: 10 }]) {
  describeOnEachDatabase(`sessions that change networks, with ${JSON.stringify(auth)}`, { auth }, ({ app }) => {
    /** Opens a session from the first of the addresses, and refreshes it from each of the others. */
    const visit = async (...addresses: (string | null)[]): Promise<{ sessionId: string; accessToken: string }> => {
      const [first, ...others] = addresses.map((ipAddress) => ({ ipAddress }));
      const opened = await app.auth.openSession(await app.userId(), first);
      let pair = { accessToken: opened.accessToken, refreshToken: opened.refreshToken };
      for (const client of others) pair = await app.auth.refresh(pair.refreshToken, client);
      return { sessionId: opened.sessionId, accessToken: pair.accessToken };
    };

    it('each refresh from a different network than the previous refresh is recorded and emitted', async () => {
      const { sessionId: id, accessToken } = await visit(HOME, HOME, CAFE, CAFE, '2001:db8::1', '2001:db8:0:0:ffff::9');
      const session = { id, state: 'active', ipAddress: HOME };
      expect(app.sent('session_network_changed')).toMatchObject([
        { userId: await app.userId(), session, from: HOME, to: CAFE },
        { from: CAFE, to: '2001:db8:0:0::/64' },
      ]);
      const extras = (await app.history(accessToken)).map(({ extra }) => extra);
      expect(extras).toEqual([{}, { network_changed: true }, {}, { network_changed: true }, {}, {}]);
    });

    it('an unknown address is not reported as a network change, and the next address is compared with the last known one', async () => {
      await visit(null, HOME, null, HOME);
      expect(app.sent('session_network_changed')).toEqual([]);
      const { sessionId } = await visit(null, HOME, null, CAFE);
      expect(app.sent('session_network_changed')).toMatchObject([{ from: HOME, to: CAFE }]);
      expect(await app.storedSession(sessionId)).toMatchObject({ lastNetwork: CAFE });
    });
  });
}
