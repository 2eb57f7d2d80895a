import { DAY, HOUR, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase } from '../support/environment';

describeOnEachDatabase('timeouts', {}, ({ app, start }) => {
  const ends = (): string[] => app.sent('user_logged_out').map(({ reason }) => reason);

  it('an access token expires to the millisecond', async () => {
    const { access_token: token } = await app.login();
    app.clock.advance(900 * SECOND - 1);
    await app.get('/me', token).expect(200);
    app.clock.advance(1);
    await app.get('/me', token).expect(401);
    expect(ends()).toEqual([]);
  });

  it('a refresh does not extend a session past its absolute timeout', async () => {
    let { refresh_token: token } = await app.login();
    for (let week = 0; week < 4; week++) {
      app.clock.advance(7 * DAY - 1);
      token = (await app.refresh(token).expect(200)).body.refresh_token;
    }
    app.clock.advance(2 * DAY + 3);
    const last = (await app.refresh(token).expect(200)).body;
    await app.get('/me', last.access_token).expect(200);
    app.clock.advance(1);
    await app.get('/me', last.access_token).expect(401);
    await app.refresh(last.refresh_token).expect(400);
    expect(ends()).toEqual(['expired']);
  });

  it('an idle session expires to the millisecond, once, and does not become active again if the clock steps back', async () => {
    const { refresh_token: other } = await app.login('bob');
    const { refresh_token: token, session_id: id } = await app.login();
    app.clock.advance(7 * DAY - 1);
    await app.refresh(other).expect(200);
    app.clock.advance(1);
    await app.refresh(token).expect(400);
    await app.refresh(token).expect(400);
    app.clock.advance(-HOUR);
    await app.refresh(token).expect(400);
    expect(app.sent('user_logged_out')).toMatchObject([{ reason: 'expired', session: { id, state: 'expired' } }]);
    const { access_token: next } = await app.login();
    expect((await app.get('/auth/sessions', next)).body).toHaveLength(1);
  });

  it('lower timeouts apply to existing sessions immediately, and higher ones to new sessions only', async () => {
    const { refresh_token: token } = await app.login();
    const { refresh_token: other } = await app.login('bob');

    const month = 2_592_000;
    const raised = await start({ auth: { refreshTokenTtlSeconds: month, idleTimeoutSeconds: month } });
    raised.clock.advance(7 * DAY - 1);
    const opened = await raised.login();
    const { refresh_token: next } = (await raised.refresh(token).expect(200)).body;
    const { refresh_token: unused } = (await raised.refresh(other).expect(200)).body;
    raised.clock.advance(7 * DAY);
    await raised.refresh(unused).expect(400);
    await raised.refresh(opened.refresh_token).expect(200);

    const lowered = await start({ auth: { idleTimeoutSeconds: 3600 } });
    lowered.clock.advance(7 * DAY - 1 + HOUR);
    await lowered.refresh(next).expect(400);
    expect(lowered.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
  });
});
