import { AxiosError } from 'axios';
import type { AuthClient } from 'nestjs-session-auth-client';
import { createSession, type SessionOptions, type SessionState } from 'nestjs-session-auth-client/svelte';
import { FakeAuthServer } from 'nestjs-session-auth-client/testing';
import { derived, get } from 'svelte/store';
import { FakePage, settle, type User } from './fake-page';

const users = { alice: 'secret', bob: 'secret' };
const refusal = (details: object) => () => Promise.reject(Object.assign(new Error('no'), details));
let page: FakePage;
let server: FakeAuthServer;
let client: AuthClient;
let asked: string[];

beforeEach(() => {
  page = FakePage.open();
  asked = [];
  const respond = (_: Request, username: string) => (asked.push(username), Response.json({ username }));
  server = new FakeAuthServer({ users, respond });
  client = server.client();
});

afterEach(() => page.close());

async function shown(options: Partial<SessionOptions<User>> = {}) {
  const session = createSession<User>(client, { loadUser: '/me', ...options });
  const states: SessionState<User>[] = [];
  const stop = session.subscribe((state) => states.push(state));
  await settle();
  return { session, states, stop, last: () => states.at(-1)! };
}

const textOf = ({ status, user, reason }: SessionState<User>): string => `${status} ${user?.username} ${reason}`;

const signedOutOfAxios = () =>
  client.fetch('/me').then(
    () => null,
    (error: Error) => Promise.reject(AxiosError.from(error)),
  );
it.each<[string, () => Promise<User | null>, string, string | undefined]>([
  ['null', () => Promise.resolve(null), 'signedOut', undefined],
  ['a 401 of axios', refusal({ response: { status: 401 } }), 'signedOut', undefined],
  ['signed_out of axios', signedOutOfAxios, 'signedOut', undefined],
  ['a 403', refusal({ status: 403 }), 'failed', 'no'],
  ['a network error', () => Promise.reject(new TypeError('Failed to fetch')), 'failed', 'Failed to fetch'],
])('a function that answers with %s', async (_, loadUser, status, message) => {
  const { status: last, user, error } = (await shown({ loadUser })).last();
  expect([last, user, (error as Error | null)?.message]).toEqual([status, null, message]);
});

it.each<[string, () => Response, string, string | undefined]>([
  ['an empty body', () => new Response(null), 'signedOut', undefined],
  ['a 401', () => new Response(null, { status: 401 }), 'signedOut', undefined],
  ['a 503', () => new Response(null, { status: 503 }), 'failed', 'unavailable'],
])('a route that answers with %s', async (_, respond, status, code) => {
  client = new FakeAuthServer({ users, respond }).client();
  await client.login('alice', 'secret');
  const { status: last, error } = (await shown()).last();
  expect([last, (error as { code?: string } | null)?.code]).toEqual([status, code]);
});

it('a signed-in user who is refused without an event has been signed out elsewhere', async () => {
  let user: User | null = { username: 'alice' };
  const { last } = await shown({ loadUser: () => Promise.resolve(user) });
  user = null;
  await last().reload();
  expect(textOf(last())).toBe('signedOut undefined signedOutElsewhere');
});

it('while the session of another user begins, no user is shown, and a late answer for the former user or after a logout is ignored', async () => {
  await client.login('alice', 'secret');
  const answers: ((user: User) => void)[] = [];
  const { states } = await shown({ loadUser: () => new Promise((resolve) => answers.push(resolve)) });
  await client.login('bob', 'secret');
  answers[1]!({ username: 'bob' });
  answers[0]!({ username: 'alice' });
  await settle();
  expect(states.map(textOf)).toEqual(['loading undefined null', 'loading undefined null', 'signedIn bob null']);
  void states.at(-1)!.reload();
  await client.logout();
  answers[2]!({ username: 'bob' });
  await settle();
  expect(states.slice(3).map(textOf)).toEqual(['signedOut undefined signedOut']);
});

it('a page that becomes visible loads the user again, unless it is hidden or signed out', async () => {
  await client.login('alice', 'secret');
  const { last } = await shown();
  await page.become('hidden');
  expect(asked).toHaveLength(1);
  server.isReachable = false;
  await page.become('visible');
  expect([textOf(last()), (last().error as Error).message]).toEqual(['signedIn alice null', 'Failed to fetch']);
  server.isReachable = true;
  await page.become('visible');
  expect([textOf(last()), last().error, asked.length]).toEqual(['signedIn alice null', null, 2]);
  await client.logout();
  const fetch = jest.spyOn(client, 'fetch');
  await page.become('visible');
  expect(fetch).not.toHaveBeenCalled();
});

it.each([
  ['a user', { username: 'alice' }, 'signedIn alice null'],
  ['null', null, 'signedOut undefined null'],
])('with %s of the server, the page asks for no user', async (_, initialUser, state) => {
  await client.login('alice', 'secret');
  const { states } = await shown({ initialUser });
  expect([states.map(textOf), asked]).toEqual([[state], []]);
});

it('the user is loaded once for all subscribers, nothing is received without subscribers, and the next one does not see a former user', async () => {
  await client.login('alice', 'secret');
  const { session, states, stop } = await shown();
  const names = derived(session, ({ user }) => user?.username);
  expect([states.map(textOf), get(names)]).toEqual([['loading undefined null', 'signedIn alice null'], 'alice']);
  stop();
  await client.logout();
  await client.login('bob', 'secret');
  await page.become('visible');
  expect([states.length, asked]).toEqual([2, ['alice']]);
  session.subscribe((state) => states.push(state));
  await settle();
  expect(states.slice(2).map(textOf)).toEqual(['loading undefined null', 'signedIn bob null']);
});
