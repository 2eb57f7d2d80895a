import { AuthEvent, AuthEvents, type AuthEventOfUser } from 'nestjs-session-auth';
import { HOUR, MINUTE, SECOND } from '../support/driven-clock';
import { describeOnEachDatabase, describeOnEachServer } from '../support/environment';
import { many, writeEvents } from '../support/rows';
import type { TestApplication } from '../support/test-application';

/** Reads pages as a poller does, until there are no more. */
async function poll(app: TestApplication, from = 0): Promise<{ events: AuthEventOfUser[]; next: number }> {
  const events: AuthEventOfUser[] = [];
  for (let after = from; ;) {
    const page = await app.nest.get(AuthEvents).read({ after, limit: 3 });
    events.push(...page.events);
    after = page.next;
    if (!page.hasMore) return { events, next: after };
  }
}

describeOnEachDatabase('the feed of all events', {}, ({ app }) => {
  let feed: AuthEvents;
  beforeAll(() => (feed = app.nest.get(AuthEvents)));
  const storedIds = async (): Promise<number[]> => {
    const rows = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
    return rows.map(({ id }) => Number(id));
  };

  it('events appear after 60 seconds, in the order of their ids, with their users', async () => {
    const { access_token: token } = await app.login();
    await app.login('bob');
    await app.failLogin('nobody');
    await app.post('/auth/logout', token).expect(200);
    app.clock.advance(59 * SECOND);
    expect(await feed.read()).toMatchObject({ events: [] });
    app.clock.advance(2 * SECOND);
    const [alice, bob] = [await app.userId(), await app.userId('bob')];
    const { events, oldestId } = await feed.read();
    expect(events.map(({ event, userId }) => [event, userId])).toEqual([
      ['login_success', alice],
      ['login_success', bob],
      ['login_failure', null],
      ['logout', alice],
    ]);
    expect([events.map(({ id }) => id), oldestId]).toEqual([await storedIds(), events[0]!.id]);
  });

  it('a poller that keeps `next` gets every event once, also with filters', async () => {
    const seen: number[] = [];
    let next = 0;
    for (let round = 0; round < 4; round++) {
      for (const username of ['alice', 'bob', 'alice']) await app.login(username);
      app.clock.advance((round + 1) * 20 * SECOND);
      const polled = await poll(app, next);
      seen.push(...polled.events.map(({ id }) => id));
      next = polled.next;
    }
    expect(seen).toEqual(await storedIds());
    const userId = await app.userId('bob');
    const { access_token: token } = await app.login('bob');
    await app.post('/auth/logout', token).expect(200);
    app.clock.advance(2 * MINUTE);
    const named = await feed.read({ events: ['logout'] });
    expect(named.events).toMatchObject([{ event: 'logout', userId }]);
    expect(named.hasMore).toBe(false);
    expect((await feed.read({ userId })).events).toHaveLength(6);
    expect((await feed.read({ userId, events: ['logout'] })).events).toHaveLength(1);
  });

  it('a search for a rare name reads 10,000 events for each page', async () => {
    await writeEvents(app, await app.userId(), [...many('login_success', 10_500), 'logout'], HOUR);
    const first = await feed.read({ events: ['logout'] });
    expect(first).toMatchObject({ events: [], next: (await storedIds())[9_999], hasMore: true });
    const second = await feed.read({ events: ['logout'], after: first.next });
    expect([second.events.length, second.hasMore]).toEqual([1, false]);
  });

  it('a poller finds out by `oldestId` that pruning has removed events that it has not read', async () => {
    expect((await feed.read()).oldestId).toBeNull();
    await app.login();
    await app.login();
    app.clock.advance(2 * MINUTE);
    const { next } = await feed.read({ limit: 1 });
    await app.login();
    await app.dataSource.getRepository(AuthEvent).delete({ id: (await storedIds())[1]! });
    app.clock.advance(2 * MINUTE);
    expect((await feed.read({ after: next })).oldestId).toBeLessThanOrEqual(next);
    await app.dataSource.getRepository(AuthEvent).delete({ id: next });
    expect((await feed.read({ after: next })).oldestId).toBeGreaterThan(next);
  });

  it('a request with an invalid value is refused', async () => {
    for (const [field, values] of Object.entries({
      after: [-1, 1.5],
      limit: [0, 1_001],
      events: [[], ['other'], 'logout'],
      userId: [undefined, null],
    })) {
      const refused = { code: 'invalid_field', fields: { [field]: {} } };
      for (const value of values) await expect(feed.read({ [field]: value })).rejects.toMatchObject(refused);
    }
  });
});

describeOnEachServer('the feed beside open transactions', {}, ({ app }) => {
  it('an event of a transaction that is still open appears before the later events', async () => {
    await app.login('bob');
    app.clock.advance(2 * MINUTE);
    const { next } = await poll(app);
    const bob = await app.userId('bob');
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction('READ COMMITTED');
    await app.auth.inTransaction(runner.manager).endSessions(bob);
    app.clock.advance(SECOND);
    await app.login();
    app.clock.advance(58 * SECOND);
    expect((await poll(app, next)).events).toEqual([]);
    await runner.commitTransaction();
    await runner.release();
    app.clock.advance(3 * SECOND);
    expect((await poll(app, next)).events.map(({ event }) => event)).toEqual(['session_revoked', 'login_success']);
  });
});
