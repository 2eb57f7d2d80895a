import type { AuthClient } from 'nestjs-session-auth-client';
import * as react from 'nestjs-session-auth-client/react';
import { FakeAuthServer } from 'nestjs-session-auth-client/testing';
import * as vue from 'nestjs-session-auth-client/vue';
import { createElement, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { createRenderer, createSSRApp, h, ref, watchEffect, type RendererOptions } from 'vue';
import { renderToString as renderVue } from 'vue/server-renderer';
import { FakePage, settle, type User } from './fake-page';

type Options = react.SessionOptions<User>;
const textOf = ({ status, user, reason }: react.SessionState<User>): string => `${status} ${user?.username} ${reason}`;

let shown: string[];

const ReactPage = (): string => {
  const text = textOf(react.useSession<User>());
  if (shown.at(-1) !== text) shown.push(text);
  return text;
};
const reactApp = (client: AuthClient, options: Options, key = '/') =>
  createElement(react.SessionProvider<User>, { client, ...options }, createElement(ReactPage, { key }));

const VuePage = {
  setup() {
    const session = vue.useSession<User>();
    watchEffect(() => void shown.push(textOf(session.value)), { flush: 'sync' });
    return () => textOf(session.value);
  },
};
const NODES = ['createText', 'createComment', 'insert', 'remove', 'parentNode', 'nextSibling', 'setText'];
const nodes = Object.fromEntries(NODES.map((name) => [name, () => ({})]));

describe.each([
  {
    framework: 'React',
    /** Mounts the component. `navigate` replaces it with another one. */
    async mount(client: AuthClient, options: Options) {
      let root!: ReactTestRenderer;
      const appAt = (key: string) => createElement(StrictMode, null, reactApp(client, options, key));
      await act(async () => void (root = create(appAt('/'))));
      return { navigate: () => root.update(appAt('/other')), unmount: () => root.unmount() };
    },
    render: async (client: AuthClient, options: Options) => renderToString(reactApp(client, options)),
    renderAlone: async () => renderToString(createElement(ReactPage)),
  },
  {
    framework: 'Vue',
    async mount(client: AuthClient, options: Options) {
      const key = ref('/');
      const root = { render: () => h(VuePage, { key: key.value }) };
      const app = createRenderer(nodes as unknown as RendererOptions<object, object>).createApp(root);
      app.use(vue.sessionPlugin<User>(client, options)).mount({});
      return { navigate: () => void (key.value = '/other'), unmount: () => app.unmount() };
    },
    render: (client: AuthClient, options: Options) =>
      renderVue(createSSRApp(VuePage).use(vue.sessionPlugin<User>(client, options))),
    renderAlone: () => renderVue(createSSRApp(VuePage)),
  },
])('the session in $framework', ({ mount, render, renderAlone }) => {
  let page: FakePage;
  let server: FakeAuthServer;
  let client: AuthClient;

  beforeEach(() => {
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
    page = FakePage.open();
    shown = [];
    server = new FakeAuthServer({ users: { alice: 'secret', bob: 'secret' } });
    client = server.client();
    for (const method of ['warn', 'error'] as const) jest.spyOn(console, method).mockImplementation();
  });
  afterEach(() => {
    page.close();
    jest.restoreAllMocks();
  });

  it('a component shows each change, and receives nothing after it is gone', async () => {
    const during = (work: () => unknown) => act(async () => (await work(), settle()));
    const { unmount } = await mount(client, { loadUser: '/me' });
    await during(settle);
    await during(() => client.login('alice', 'secret'));
    await during(() => client.login('bob', 'secret'));
    server.endSessions();
    await during(() => page.become('visible'));
    await during(unmount);
    const fetch = jest.spyOn(client, 'fetch');
    await during(() => client.login('alice', 'secret'));
    expect(fetch).not.toHaveBeenCalled();
    expect(shown.filter((text) => !text.startsWith('loading'))).toEqual([
      'signedOut undefined null',
      'signedIn alice null',
      'signedIn bob null',
      'signedOut undefined signedOutElsewhere',
    ]);
  });

  it('the user is loaded once, even if another component replaces the last one that shows the session', async () => {
    await client.login('alice', 'secret');
    const fetch = jest.spyOn(client, 'fetch');
    const { navigate } = await mount(client, { loadUser: '/me' });
    await act(settle);
    await act(async () => (navigate(), settle()));
    expect([fetch.mock.calls.length, shown]).toEqual([1, expect.arrayContaining(['signedIn alice null'])]);
  });

  it('a server renders the given user, or that the user is not known yet, and sends nothing', async () => {
    const respond = jest.spyOn(server, 'respond');
    page.close();
    for (const [initialUser, text] of [
      [undefined, 'loading undefined null'],
      [null, 'signedOut undefined null'],
      [{ username: 'bob' }, 'signedIn bob null'],
    ] as const) {
      expect(await render(client, { loadUser: '/me', initialUser })).toBe(text);
    }
    expect(respond).not.toHaveBeenCalled();
  });

  it('a component without a provider names what is missing', async () => {
    await expect(renderAlone()).rejects.toThrow(/^useSession requires (a <SessionProvider>|app\.use)/);
  });
});
