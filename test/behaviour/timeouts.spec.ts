import { ActivityRecorder } from '../../libs/auth/src/services/sessions/activity-recorder';
import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { DAY, HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { Host } from '../support/host';

/** Writes the pending activity now rather than on a later turn of the event loop. */
const flush = (host: Host): Promise<void> => host.app.get(ActivityRecorder).flush();

describe.each(DATABASES)('timeouts on %s', (name) => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase(name);
    host = await Host.start({ database });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });
  beforeEach(() => host.reset());

  it('an access token expires to the millisecond', async () => {
    const { access_token: token } = await host.login();
    host.clock.advance(900 * SECOND - 1);
    await host.get('/me', token).expect(200);
    host.clock.advance(1);
    await host.get('/me', token).expect(401);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it('a refresh token expires to the millisecond, and each refresh renews its lifetime', async () => {
    const { refresh_token: first } = await host.login();
    host.clock.advance(7 * DAY - 1);
    const { refresh_token: second } = (await host.refresh(first).expect(200)).body;
    host.clock.advance(7 * DAY);
    await host.refresh(second).expect(400);
  });

  it('no refresh extends a session past its absolute timeout', async () => {
    let { refresh_token: token } = await host.login();
    for (let week = 0; week < 4; week++) {
      host.clock.advance(7 * DAY - 1);
      token = (await host.refresh(token).expect(200)).body.refresh_token;
    }
    host.clock.advance(2 * DAY + 3);
    const last = (await host.refresh(token).expect(200)).body;
    await host.get('/me', last.access_token).expect(200);
    host.clock.advance(1);
    await host.get('/me', last.access_token).expect(401);
    await host.refresh(last.refresh_token).expect(400);
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
  });

  it('an idle session expires to the millisecond, once, and for good even if the clock steps back', async () => {
    const { refresh_token: token, session_id: id } = await host.login();
    host.clock.advance(7 * DAY);
    await host.refresh(token).expect(400);
    await host.refresh(token).expect(400);
    host.clock.advance(-HOUR);
    await host.refresh(token).expect(400);
    expect(host.sent('user_logged_out')).toMatchObject([{ reason: 'expired', session: { id, state: 'expired' } }]);
    const { access_token: next } = await host.login();
    expect((await host.get('/auth/sessions', next)).body).toHaveLength(1);
  });

  it('a listing stores and emits the expiry of a session', async () => {
    await host.login();
    host.clock.advance(7 * DAY);
    const { access_token: token } = await host.login();
    expect((await host.get('/auth/sessions', token)).body).toHaveLength(1);
    expect(host.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
    await host.post('/auth/logout/all', token).expect(200, { detail: 'Revoked 1 session(s).' });
  });

  it('activity is written once per interval, after the request, and postpones the idle timeout', async () => {
    const { access_token: token } = await host.login();
    const stored = async (): Promise<number> =>
      Number((await host.dataSource.query('SELECT last_activity AS at FROM auth_sessions'))[0].at);
    const began = await stored();
    host.clock.advance(59_999);
    await host.get('/me', token).expect(200);
    await flush(host);
    expect(await stored()).toBe(began);
    host.clock.advance(1);
    await host.get('/me', token).expect(200);
    await flush(host);
    expect(await stored()).toBe(began + MINUTE);
    host.clock.advance(30 * SECOND);
    await host.get('/me', token).expect(200);
    await flush(host);
    expect(await stored()).toBe(began + MINUTE);
  });
});

describe.each(DATABASES)('changed timeouts on %s', (name) => {
  it('apply immediately where they are lowered, and to new sessions where they are raised', async () => {
    const database = await createDatabase(name);
    const before = await Host.start({ database });
    const { refresh_token: token } = await before.login();
    await before.close();

    const raised = await Host.start({ database, users: [], auth: { idleTimeoutSeconds: 2_592_000 } });
    raised.clock.advance(7 * DAY - 1);
    const { refresh_token: next } = (await raised.refresh(token).expect(200)).body;
    await raised.close();

    const lowered = await Host.start({ database, users: [], auth: { idleTimeoutSeconds: 3600 } });
    lowered.clock.advance(7 * DAY - 1 + HOUR);
    await lowered.refresh(next).expect(400);
    expect(lowered.sent('user_logged_out').map(({ reason }) => reason)).toEqual(['expired']);
    await lowered.close();
    await database.drop();
  });
});
