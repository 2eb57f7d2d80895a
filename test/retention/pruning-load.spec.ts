import { AuthSession } from 'nestjs-session-auth';
import { DATABASES } from '../support/databases';
import { DAY, HOUR } from '../support/driven-clock';
import { insertRows, many, sessionRow, writeEvents } from '../support/rows';
import { startForTest } from '../support/start-for-test';

const ROWS = { sessions: 20_000, events: 80_000 };

describe.each(DATABASES)('pruning under load on %s', (name) => {
  it('100,000 rows are deleted while guarded requests and refreshes are served', async () => {
    // With the default, pruning would also remove events of this client, because the client refreshes very often.
    const app = await startForTest(name, { auth: { history: { maxRowsPerUser: 1_000_000 } } });
    const sessions = Array.from({ length: ROWS.sessions }, (_, i) => sessionRow(i, { state: 'expired' }));
    await insertRows(app, AuthSession, sessions);
    for (let user = 0; user < 80; user++)
      await writeEvents(app, `user-${user}`, many('token_refresh', 1_000), 91 * DAY + user * HOUR);
    let pair = await app.login();
    let pruning = true;
    const served: number[] = [];
    const report = app.pruning.prune().finally(() => (pruning = false));
    while (pruning) {
      served.push((await app.get('/me', pair.access_token)).status);
      const { status, body } = await app.refresh(pair.refresh_token);
      served.push(status);
      pair = { ...pair, ...body };
    }
    expect(await report).toMatchObject(ROWS);
    expect(served.length).toBeGreaterThan(20);
    expect([...new Set(served)]).toEqual([200]);
    await app.get('/me', pair.access_token).expect(200);
  }, 60_000);
});
