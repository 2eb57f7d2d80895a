import { Activity } from '../../libs/auth/src/sessions/activity';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DAY, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { TestApplication } from '../support/test-application';

/** Writes the pending activity immediately. */
const flush = (app: TestApplication): Promise<void> => app.nest.get(Activity).flush();

describe.each(DATABASES)('timeouts on %s', (name) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase(name);
    app = await TestApplication.start({ database });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  beforeEach(() => app.reset());

  it('an access token expires to the millisecond', async () => {
    const { access_token: token } = await app.login();
    app.clock.advance(900 * SECOND - 1);
    await app.get('/me', token).expect(200);
    app.clock.advance(1);
    await app.get('/me', token).expect(401);
    expect(app.sent('user_logged_out')).toEqual([]);
  });

  it('a refresh token expires to the millisecond, and each refresh renews its lifetime', async () => {
    const { refresh_token: first } = await app.login();
    app.clock.advance(7 * DAY - 1);
    const { refresh_token: second } = (await app.refresh(first).expect(200)).body;
    app.clock.advance(7 * DAY - 1);
    const { refresh_token: third } = (await app.refresh(second).expect(200)).body;
    app.clock.advance(7 * DAY);
    await app.refresh(third).expect(400);
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
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
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

  it('listing the sessions stores and emits an expiry', async () => {
    const { session_id: id } = await app.login();
    app.clock.advance(7 * DAY - 1);
    const { access_token: token } = await app.login();
    app.clock.advance(1);
    expect(app.sent('user_logged_out')).toEqual([]);
    expect((await app.get('/auth/sessions', token)).body).toHaveLength(1);
    expect(app.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
    const [{ state }] = await app.dataSource.query(`SELECT state FROM auth_sessions WHERE id = '${id}'`);
    expect(state).toBe('expired');
    await app.post('/auth/logout/all', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });

  it('the last activity of a session is written at most once per interval', async () => {
    const { access_token: token } = await app.login();
    const stored = async (): Promise<number> =>
      Number((await app.dataSource.query('SELECT last_activity AS at FROM auth_sessions'))[0].at);
    const began = await stored();
    app.clock.advance(59_999);
    await app.get('/me', token).expect(200);
    await flush(app);
    expect(await stored()).toBe(began);
    app.clock.advance(1);
    await app.get('/me', token).expect(200);
    await flush(app);
    expect(await stored()).toBe(began + MINUTE);
    app.clock.advance(30 * SECOND);
    await app.get('/me', token).expect(200);
    await flush(app);
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
