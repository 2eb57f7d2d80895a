import type { OpenedTab } from './fixture';
import { Fixture, signedIn } from './fixture';

function changesIn({ client }: OpenedTab): string[] {
  const changes: string[] = [];
  client.on('sessionChanged', ({ sessionId }) => changes.push(sessionId));
  return changes;
}

describe.each(['local', 'cookie'] as const)('a login in another tab, with %s storage', (kind) => {
  it('every tab reports the new session, and then uses it', async () => {
    const { fixture, tabs } = await signedIn({ kind, tabs: 3, traits: { lag: () => 20 } });
    await fixture.time.run(200);
    const changes = tabs.map(changesIn);
    const { sessionId } = await fixture.login(tabs[1]!, 'bob');
    await fixture.time.run(300);
    expect(changes).toEqual([[sessionId], [sessionId], [sessionId]]);
    expect(tabs.map(({ client }) => client.sessionId)).toEqual([sessionId, sessionId, sessionId]);
    expect(await fixture.requestInAll(tabs)).toEqual([200, 200, 200]);
  });

  it('a tab without a listener sends no request of the former user with the session of the new user', async () => {
    const { fixture, server, tabs } = await signedIn({ kind, tabs: 2 });
    const former = tabs[0]!.client.sessionId;
    await fixture.login(tabs[1]!, 'bob');
    await fixture.time.run(300);
    server.requests.length = 0;
    for (const call of [
      () => tabs[0]!.client.fetch('/transfer', { method: 'POST' }),
      () => tabs[0]!.client.changePassword('secret', 'another secret'),
      () => tabs[0]!.client.logoutAll(),
    ]) {
      expect(await fixture.rejection(call())).toMatchObject({ code: 'session_changed' });
    }
    expect([server.paths, tabs[0]!.client.sessionId]).toEqual([[], former]);
    await fixture.login(tabs[0]!, 'bob');
    expect(await fixture.requestInAll([tabs[0]!])).toEqual([200]);
  });

  it('a tab whose message was lost reports the new session at its next request, which it refuses', async () => {
    const { fixture, server, tabs } = await signedIn({ kind, tabs: 2, traits: { hasBroadcast: false } });
    const changes = changesIn(tabs[0]!);
    const { sessionId } = await fixture.login(tabs[1]!, 'bob');
    server.requests.length = 0;
    expect(await fixture.requestInAll([tabs[0]!])).toEqual(['session_changed']);
    expect([changes, server.paths]).toEqual([[sessionId], []]);
    expect(await fixture.requestInAll([tabs[0]!])).toEqual([200]);
  });

  it('a signed-out tab reports the session that begins, and a new page reports none', async () => {
    const fixture = new Fixture({ kind });
    const tabs = [fixture.open(), fixture.open()];
    await fixture.time.run(10);
    const changes = tabs.map(changesIn);
    expect(tabs[0]!.client.sessionId).toBeNull();
    const { sessionId } = await fixture.login(tabs[1]!);
    const next = fixture.open();
    const nextChanges = changesIn(next);
    await fixture.time.run(300);
    expect([changes, nextChanges]).toEqual([[[sessionId], [sessionId]], []]);
    expect(next.client.sessionId).toBe(sessionId);
    await fixture.time.until(tabs[1]!.client.logout());
    await fixture.time.run(300);
    expect([next.client.sessionId, tabs[0]!.client.sessionId]).toEqual([null, null]);
  });
});

it('while a login with cookies is being checked, another tab sends nothing with the cookies of the new user', async () => {
  const { fixture, server, tabs } = await signedIn({ kind: 'cookie', tabs: 2 });
  server.latency['/auth/sessions'] = 500;
  const login = tabs[1]!.client.login('bob', 'secret');
  await fixture.time.run(50);
  server.requests.length = 0;
  const transfer = tabs[0]!.client.fetch('/transfer', { method: 'POST' });
  expect(await fixture.rejection(transfer)).toMatchObject({ code: 'session_changed' });
  expect(server.paths).toEqual([]);
  await fixture.time.until(login);
});

it('a login in a tab with its own session does not concern a duplicate of that tab', async () => {
  const { fixture, one } = await signedIn({ kind: 'session' });
  const copy = fixture.open(one.tab.duplicate());
  const changes = changesIn(copy);
  await fixture.login(one, 'bob');
  await fixture.time.run(300);
  expect(changes).toEqual([]);
  expect(await fixture.requestInAll([copy])).toEqual([200]);
});
