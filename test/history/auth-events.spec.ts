import { AuthEvent, AuthEvents, type AuthEventOfUser } from 'nestjs-session-auth';
import { MINUTE, SECOND } from '../support/driven-clock';
import { describeEachPooled } from '../support/databases';
import { describeOnEachDatabase } from '../support/environment';
import { startForTest } from '../support/start-for-test';
import type { TestApplication } from '../support/test-application';

const feedOf = (app: TestApplication): AuthEvents => app.nest.get(AuthEvents);
const storedIds = async (app: TestApplication): Promise<number[]> => {
  const rows = await app.dataSource.getRepository(AuthEvent).find({ order: { id: 'ASC' } });
  return rows.map(({ id }) => Number(id));
};

/** Reads pages as a poller does, until there are no more. */
async function poll(app: TestApplication, from = 0, limit = 3): Promise<{ events: AuthEventOfUser[]; next: number }> {
  const events: AuthEventOfUser[] = [];
  for (let after = from; ;) {
    const page = await feedOf(app).read({ after, limit });
    events.push(...page.events);
    after = page.next;
    if (!page.hasMore) return { events, next: after };
  }
}

describeOnEachDatabase('the feed of all events', {}, ({ app }) => {
  it('events appear after 60 seconds, in the order of their ids, with their users', async () => {
    const { access_token: token } = await app.login();
    await app.login('bob');
    await app.auth.login({ username: 'nobody', password: 'wrong' }).catch(() => undefined);
    await app.post('/auth/logout', token).expect(200);
    app.clock.advance(59 * SECOND);
    expect(await feedOf(app).read()).toMatchObject({ events: [] });
    app.clock.advance(2 * SECOND);
    const [alice, bob] = [await app.userId(), await app.userId('bob')];
    const { events, oldestId } = await feedOf(app).read();
    expect(events.map(({ event, userId }) => [event, userId])).toEqual([
      ['login_success', alice],
      ['login_success', bob],
      ['login_failure', null],
      ['logout', alice],
    ]);
    expect([events.map(({ id }) => id), oldestId]).toEqual([await storedIds(app), events[0]!.id]);
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
    expect(seen).toEqual(await storedIds(app));
    const userId = await app.userId('bob');
    const { access_token: token } = await app.login('bob');
    await app.post('/auth/logout', token).expect(200);
    app.clock.advance(2 * MINUTE);
    const named = await feedOf(app).read({ events: ['logout'] });
    expect(named.events).toMatchObject([{ event: 'logout', userId }]);
    expect(named.hasMore).toBe(false);
    expect((await feedOf(app).read({ userId })).events).toHaveLength(6);
    expect((await feedOf(app).read({ userId, events: ['logout'] })).events).toHaveLength(1);
  });

  it('a search for a rare name reads 10,000 events for each page', async () => {
    await app.login();
    const events = app.dataSource.getRepository(AuthEvent);
    const [row] = await events.find();
    for (let first = 0; first < 10_500; first += 2_100) {
      const copies = Array.from({ length: 2_100 }, (_, index) => ({ ...row!, id: first + index + 1 }));
      await events.insert(copies as object[]);
    }
    await events.insert({ ...row!, id: 20_000, event: 'logout' } as object);
    app.clock.advance(2 * MINUTE);
    const first = await feedOf(app).read({ events: ['logout'] });
    expect([first.events, first.next, first.hasMore]).toEqual([[], 10_000, true]);
    const second = await feedOf(app).read({ events: ['logout'], after: first.next });
    expect([second.events.length, second.hasMore]).toEqual([1, false]);
  });

  it('a poller finds out by `oldestId` that pruning has removed events that it has not read', async () => {
    expect((await feedOf(app).read()).oldestId).toBeNull();
    await app.login();
    await app.login();
    app.clock.advance(2 * MINUTE);
    const { next } = await feedOf(app).read({ limit: 1 });
    await app.login();
    await app.dataSource.getRepository(AuthEvent).delete({ id: (await storedIds(app))[1]! });
    app.clock.advance(2 * MINUTE);
    expect((await feedOf(app).read({ after: next })).oldestId).toBeLessThanOrEqual(next);
    await app.dataSource.getRepository(AuthEvent).delete({ id: next });
    expect((await feedOf(app).read({ after: next })).oldestId).toBeGreaterThan(next);
  });

  it.each([
    [{ after: -1 }, 'after'],
    [{ after: 1.5 }, 'after'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ events: [] }, 'events'],
    [{ events: ['other'] }, 'events'],
    [{ events: 'logout' }, 'events'],
    [{ userId: undefined }, 'userId'],
    [{ userId: null }, 'userId'],
  ])('refuses %p', async (request, field) => {
    await expect(feedOf(app).read(request as object)).rejects.toMatchObject({
      code: 'invalid_field',
      fields: { [field]: {} },
    });
  });
});

describeEachPooled('the feed beside open transactions on %s', (name) => {
  it('an event of a transaction that is still open appears before the later events', async () => {
    const app = await startForTest(name);
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
