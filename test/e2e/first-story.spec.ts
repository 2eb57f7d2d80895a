import { createDatabase, DATABASES, type TestDatabase } from '../support/databases';
import { Host } from '../support/host';

describe.each(DATABASES)('the whole story on %s', (name) => {
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

  it('ends both sessions of a user whose refresh token is used twice, tells it once, and spares the next login', async () => {
    const phone = await host.login();
    const laptop = await host.login();
    const list = await host.get('/auth/sessions/', laptop.access_token).expect(200);
    expect(list.body.map((session: { id: string }) => session.id).sort()).toEqual(
      [phone.session_id, laptop.session_id].sort(),
    );

    const refreshed = (await host.refresh(phone.refresh_token).expect(200)).body;
    await host.get('/me', phone.access_token).expect(401);
    await host.get('/me', refreshed.access_token).expect(200);
    await host.refresh(phone.refresh_token).expect(400);
    await host.get('/me', refreshed.access_token).expect(401);
    await host.get('/me', laptop.access_token).expect(401);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    expect(host.sent('token_reuse_detected')[0]).toMatchObject({ sessionsEnded: 2, reuse: { generationsBehind: 1 } });

    const next = await host.login();
    await host.refresh(phone.refresh_token).expect(400);
    await host.get('/me', next.access_token).expect(200);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
    const history = (await host.get('/auth/history/', next.access_token).expect(200)).body;
    expect(history.map((entry: { event: string }) => entry.event)).toEqual([
      'login_success',
      'token_reuse',
      'token_refresh',
      'login_success',
      'login_success',
    ]);
  });

  it('lists, revokes, logs out and changes the password', async () => {
    await host.reset();
    const one = await host.login();
    const two = await host.login();
    await host.delete(`/auth/sessions/${two.session_id}/`, one.access_token).expect(200, { detail: 'Session revoked.' });
    await host.delete(`/auth/sessions/${two.session_id}/`, one.access_token).expect(404, { detail: 'Session not found.' });
    await host.post('/auth/logout/all/', one.access_token, { keep_current: true }).expect(200, { detail: 'Revoked 0 session(s).' });
    const bad = await host.post('/auth/password/change/', one.access_token, { current_password: 'x', new_password: 'y' });
    expect([bad.status, bad.body]).toEqual([400, { current_password: ['Invalid password.'] }]);
    const changed = await host.post('/auth/password/change/', one.access_token, {
      current_password: 'correct horse battery staple', new_password: 'a new and better password',
    }).expect(200);
    await host.get('/me', one.access_token).expect(401);
    await host.refresh(one.refresh_token).expect(400);
    await host.get('/me', changed.body.access_token).expect(200);
    await host.login('alice', 'a new and better password');
    await host.post('/auth/logout/', changed.body.access_token).expect(200, { detail: 'Logged out successfully.' });
    const wrong = await host.http.post('/auth/login').send({ username: 'alice', password: 'nope' });
    expect([wrong.status, wrong.body]).toEqual([400, { non_field_errors: ['Invalid credentials.'] }]);
    const malformed = await host.http.post('/auth/login').set('Content-Type', 'application/json').send('{"a"');
    expect([malformed.status, malformed.body]).toEqual([400, { detail: 'The body is not valid JSON.' }]);
    const empty = await host.http.post('/auth/login').send({});
    expect([empty.status, empty.body]).toEqual([400, { username: ['This field is required.'], password: ['This field is required.'] }]);
  });
});
