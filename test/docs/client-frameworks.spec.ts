import type { AuthClient } from 'nestjs-session-auth-client';
import { createSession } from 'nestjs-session-auth-client/svelte';
import { FakeAuthServer } from 'nestjs-session-auth-client/testing';
import { sessionPlugin } from 'nestjs-session-auth-client/vue';
import { createElement, type ComponentType } from 'react';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import type { Component } from 'svelte';
import { compile } from 'svelte/compiler';
import { render } from 'svelte/server';
import { createSSRApp, type Component as VueComponent } from 'vue';
import { compileScript, parse } from 'vue/compiler-sfc';
import { renderToString } from 'vue/server-renderer';
import { settle } from '../client/fake-page';
import { blocksUnder, type CodeBlock } from './code-blocks';
import { runBlock } from './run-block';

const GUIDE = 'docs/client-frameworks.md';

const blockOf = (heading: string, language?: string): CodeBlock => blocksUnder(GUIDE, `## ${heading}`, language)[0]!;

function run<T>(block: CodeBlock, client: AuthClient, more: object = {}): T {
  return runBlock<T>(block, { modules: { './client.js': { client }, ...more } });
}

let server: FakeAuthServer;
let client: AuthClient;
beforeEach(() => {
  server = new FakeAuthServer({ users: { alice: 'secret' } });
  client = server.client();
});

it('the React example signs in, reports a wrong password, signs out, and shows that the session has ended', async () => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  jest.spyOn(console, 'error').mockImplementation();
  const { App } = run<{ App: ComponentType }>(blockOf('React', 'tsx'), client);
  let root!: ReactTestRenderer;
  const during = (work: () => unknown) => act(async () => (await work(), settle()));
  const texts = (): string => JSON.stringify(root.toJSON());
  const signIn = (password: string) => {
    const fields = new Map(Object.entries({ username: 'alice', password }));
    jest.spyOn(globalThis, 'FormData').mockImplementation(() => fields as unknown as FormData);
    return during(() => root.root.findByType('form').props['onSubmit']({ preventDefault: () => undefined }));
  };
  await during(() => void (root = create(createElement(App))));
  await signIn('wrong');
  expect(texts()).toContain('Invalid credentials.');
  await signIn('secret');
  expect(texts()).toContain('alice');
  await during(() => root.root.findByType('button').props['onClick']());
  expect(texts()).toContain('username');
  await signIn('secret');
  server.endSessions();
  await during(() => client.fetch('/me'));
  expect(texts()).toContain('Your session has ended.');
  jest.restoreAllMocks();
});

describe.each([
  ['nobody', null, 'href="/login"'],
  ['a user', { username: 'alice' }, 'Sign out alice'],
  ['no answer yet', undefined, 'Loading'],
])('with %s, a server renders', (_, initialUser, text) => {
  const options = { loadUser: '/me', initialUser };

  it(`the Vue example as ${text}`, async () => {
    const block = blockOf('Vue', 'html');
    const { descriptor } = parse(block.code);
    const templateOptions = { ssr: true, ssrCssVars: [] };
    const { content: code } = compileScript(descriptor, { id: 'page', inlineTemplate: true, templateOptions });
    const { default: page } = run<{ default: VueComponent }>({ ...block, code, language: 'ts' }, client);
    expect(await renderToString(createSSRApp(page).use(sessionPlugin(client, options)))).toContain(text);
  });

  it(`the Svelte example as ${text}`, () => {
    const session = createSession(client, options);
    const block = blockOf('Svelte', 'html');
    const { code } = compile(block.code, { generate: 'server' }).js;
    const own = { './session.js': { session } };
    const { default: page } = run<{ default: Component }>({ ...block, code, language: 'ts' }, client, own);
    expect(render(page).body).toContain(text);
  });
});

it('the QueryClient of the guide repeats what may succeed, and forgets the former user', async () => {
  type Options = { defaultOptions: { queries: { retry(count: number, error: unknown): boolean } } };
  const [clear, resetQueries] = [jest.fn(), jest.fn()];
  const QueryClient = jest.fn<object, [Options]>(() => ({ clear, resetQueries }));
  run(blockOf('TanStack Query'), client, { '@tanstack/react-query': { QueryClient } });
  await client.login('alice', 'secret');
  await client.logout();
  expect([resetQueries.mock.calls.length, clear.mock.calls.length]).toEqual([1, 1]);
  const { queries } = QueryClient.mock.calls[0]![0].defaultOptions;
  const signedOut: unknown = await client.fetch('/me').catch((error: unknown) => error);
  expect([queries.retry(0, signedOut), queries.retry(0, new TypeError())]).toEqual([false, true]);
});

it('the handler for MSW responds to a client of the application', async () => {
  let respond!: (info: { request: Request }) => Promise<Response>;
  const http = { all: (_: string, resolve: typeof respond) => (respond = resolve) };
  run(blocksUnder(GUIDE, '## Test your front end')[1]!, client, {
    msw: { http },
    'msw/node': { setupServer: () => undefined },
  });
  const fetch = (input: string | Request, init?: RequestInit) => respond({ request: new Request(input, init) });
  const own = new (client.constructor as typeof AuthClient)({
    baseUrl: 'https://api.example.com',
    environment: { fetch },
  });
  await own.login('alice', 'secret');
  expect(await (await own.fetch('/me')).json()).toEqual({ username: 'alice' });
});
