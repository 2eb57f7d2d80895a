import { DAY, HOUR } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';
import type { Pair } from '../support/test-application';

describeOnEachDatabase('timeouts', {}, ({ app, start }) => {
  it('a refresh does not extend a session past its absolute timeout', async () => {
    let pair: Pair = await app.login();
    for (const wait of [...Array<number>(4).fill(7 * DAY - 1), 2 * DAY + 3]) {
      app.clock.advance(wait);
      pair = await app.refreshed(pair);
    }
    await app.expectLive(pair);
    app.clock.advance(1);
    await app.expectRevoked(pair);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
  });

  it('an idle session expires to the millisecond, once, and does not become active again if the clock steps back', async () => {
    const other = await app.login('bob');
    const { refresh_token: token, session_id: id } = await app.login();
    app.clock.advance(7 * DAY - 1);
    await app.refreshed(other);
    for (const step of [1, 0, -HOUR]) {
      app.clock.advance(step);
      await app.refresh(token).expect(400);
    }
    expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'expired', session: { id, state: 'expired' } }]);
    const { access_token: next } = await app.login();
    expect((await app.get('/auth/sessions', next)).body).toHaveLength(1);
  });

  it('lower timeouts apply to existing sessions immediately, and higher ones to new sessions only', async () => {
    const [mine, bobs] = [await app.login(), await app.login('bob')];
    const month = 2_592_000;
    const raised = await start({ auth: { refreshTokenTtlSeconds: month, idleTimeoutSeconds: month } });
    raised.clock.advance(7 * DAY - 1);
    const opened = await raised.login();
    const [next, unused] = [await raised.refreshed(mine), await raised.refreshed(bobs)];
    raised.clock.advance(7 * DAY);
    await raised.refresh(unused.refresh_token).expect(400);
    await raised.refreshed(opened);

    const lowered = await start({ auth: { idleTimeoutSeconds: 3600 } });
    lowered.clock.advance(7 * DAY - 1 + HOUR);
    await lowered.refresh(next.refresh_token).expect(400);
    expect(lowered.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
  });
});
