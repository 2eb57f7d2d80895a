import { CheapPasswordHasher, actingAs, recordSignals } from 'nestjs-session-auth/testing';
import { MINUTE } from '../support/driven-clock';
import { PASSWORD } from '../support/host';
import { stories, type Stage } from '../e2e/stories';

stories('the testing kit', { auth: { passwordHasher: CheapPasswordHasher } }, (at: Stage) => {
  it('lets a test act as a user without a password, as a login does', async () => {
    const { host } = at;
    const [{ id }] = await host.dataSource.query("SELECT id FROM auth_users WHERE username = 'alice'");
    const signals = recordSignals(host.app);
    const session = await actingAs(host.app, { id }, { ipAddress: '192.0.2.1' });
    await host.http.get('/me').set(session.headers).expect(200);
    expect(signals.of('user_logged_in')).toMatchObject([{ userId: id, session: { id: session.sessionId } }]);
    host.clock.advance(15 * MINUTE);
    await host.http.get('/me').set(session.headers).expect(401);
    signals.clear();
    expect(signals.all).toEqual([]);
    await expect(actingAs(host.app, '00000000-0000-4000-8000-000000000000')).rejects.toMatchObject({
      code: 'unknown_user',
    });
  });

  it('has a hasher that accepts the right password only', async () => {
    const { host } = at;
    await host.login('alice', PASSWORD);
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
  });
});

it('the cheap hasher of the testing kit fails in production', () => {
  const before = process.env['NODE_ENV'];
  process.env['NODE_ENV'] = 'production';
  try {
    expect(() => new CheapPasswordHasher()).toThrow("NODE_ENV is not 'test'");
  } finally {
    process.env['NODE_ENV'] = before;
  }
});
