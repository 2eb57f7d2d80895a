import { Activity } from '../../libs/auth/src/sessions/activity';
import { createDatabase, DATABASES } from '../support/databases';
import { DAY, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase, type TestEnvironment } from '../support/environment';
import { TestApplication } from '../support/test-application';

/** Writes the pending activity immediately. */
const flush = (app: TestApplication): Promise<void> => app.nest.get(Activity).flush();

describeOnEachDatabase('timeouts', {}, (env: TestEnvironment) => {
  it('an access token expires to the millisecond', async () => {
    const { access_token: token } = await env.app.login();
    env.app.clock.advance(900 * SECOND - 1);
    await env.app.get('/me', token).expect(200);
    env.app.clock.advance(1);
    await env.app.get('/me', token).expect(401);
    expect(env.app.sent('user_logged_out')).toEqual([]);
  });

  it('a refresh token expires to the millisecond, and each refresh renews its lifetime', async () => {
    const { refresh_token: first } = await env.app.login();
    env.app.clock.advance(7 * DAY - 1);
    const { refresh_token: second } = (await env.app.refresh(first).expect(200)).body;
    env.app.clock.advance(7 * DAY - 1);
    const { refresh_token: third } = (await env.app.refresh(second).expect(200)).body;
    env.app.clock.advance(7 * DAY);
    await env.app.refresh(third).expect(400);
  });

  it('a refresh does not extend a session past its absolute timeout', async () => {
    let { refresh_token: token } = await env.app.login();
    for (let week = 0; week < 4; week++) {
      env.app.clock.advance(7 * DAY - 1);
      token = (await env.app.refresh(token).expect(200)).body.refresh_token;
    }
    env.app.clock.advance(2 * DAY + 3);
    const last = (await env.app.refresh(token).expect(200)).body;
    await env.app.get('/me', last.access_token).expect(200);
    env.app.clock.advance(1);
    await env.app.get('/me', last.access_token).expect(401);
    await env.app.refresh(last.refresh_token).expect(400);
    expect(env.app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
  });

  it('an idle session expires to the millisecond, once, and does not become active again if the clock steps back', async () => {
    const { refresh_token: other } = await env.app.login('bob');
    const { refresh_token: token, session_id: id } = await env.app.login();
    env.app.clock.advance(7 * DAY - 1);
    await env.app.refresh(other).expect(200);
    env.app.clock.advance(1);
    await env.app.refresh(token).expect(400);
    await env.app.refresh(token).expect(400);
    env.app.clock.advance(-HOUR);
    await env.app.refresh(token).expect(400);
    expect(env.app.sent('user_logged_out')).toMatchObject([{ reason: 'expired', session: { id, state: 'expired' } }]);
    const { access_token: next } = await env.app.login();
    expect((await env.app.get('/auth/sessions', next)).body).toHaveLength(1);
  });

  it('listing the sessions stores and emits an expiry', async () => {
    const { session_id: id } = await env.app.login();
    env.app.clock.advance(7 * DAY - 1);
    const { access_token: token } = await env.app.login();
    env.app.clock.advance(1);
    expect(env.app.sent('user_logged_out')).toEqual([]);
    expect((await env.app.get('/auth/sessions', token)).body).toHaveLength(1);
    expect(env.app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
    const [{ state }] = await env.app.dataSource.query(`SELECT state FROM auth_sessions WHERE id = '${id}'`);
    expect(state).toBe('expired');
    await env.app.post('/auth/logout/all', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });

  it('the last activity of a session is written at most once per interval', async () => {
    const { access_token: token } = await env.app.login();
    const stored = async (): Promise<number> =>
      Number((await env.app.dataSource.query('SELECT last_activity AS at FROM auth_sessions'))[0].at);
    const began = await stored();
    env.app.clock.advance(59_999);
    await env.app.get('/me', token).expect(200);
    await flush(env.app);
    expect(await stored()).toBe(began);
    env.app.clock.advance(1);
    await env.app.get('/me', token).expect(200);
    await flush(env.app);
    expect(await stored()).toBe(began + MINUTE);
    env.app.clock.advance(30 * SECOND);
    await env.app.get('/me', token).expect(200);
    await flush(env.app);
    expect(await stored()).toBe(began + MINUTE);
  });
});

describe.each(DATABASES)('changed timeouts on %s', (name) => {
  it('lower timeouts apply to existing sessions immediately, and higher ones to new sessions only', async () => {
    const database = await createDatabase(name);
    const before = await TestApplication.start({ database });
    const { refresh_token: token } = await before.login();
    const { refresh_token: other } = await before.login('bob');
    await before.close();

    const month = 2_592_000;
    const auth = { refreshTokenTtlSeconds: month, idleTimeoutSeconds: month };
    const raised = await TestApplication.start({ database, users: [], auth });
    raised.clock.advance(7 * DAY - 1);
    const opened = await raised.login();
    const { refresh_token: next } = (await raised.refresh(token).expect(200)).body;
    const { refresh_token: unused } = (await raised.refresh(other).expect(200)).body;
    raised.clock.advance(7 * DAY);
    await raised.refresh(unused).expect(400);
    await raised.refresh(opened.refresh_token).expect(200);
    await raised.close();

    const lowered = await TestApplication.start({ database, users: [], auth: { idleTimeoutSeconds: 3600 } });
    lowered.clock.advance(7 * DAY - 1 + HOUR);
    await lowered.refresh(next).expect(400);
    expect(lowered.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
    await lowered.close();
    await database.drop();
  });
});
