import type { AuthClient } from 'nestjs-session-auth-client';
import * as react from 'nestjs-session-auth-client/react';
import { FakeAuthServer } from 'nestjs-session-auth-client/testing';
import * as vue from 'nestjs-session-auth-client/vue';
import { createElement, StrictMode, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';
import { createRenderer, createSSRApp, h, nextTick, type App } from 'vue';
import { renderToString as renderVue } from 'vue/server-renderer';
import { FakePage, settle, type User } from './fake-page';

interface Given {
  readonly client: AuthClient;
  readonly initialUser?: User | null;
}

/** A framework with a component that shows the session in two places. */
interface Framework {
  /** Renders the component on a server. */
  render(given: Given): Promise<string>;
  /** Mounts the component in a page, runs the changes, and returns its texts after each change. */
  mount(given: Given, changes: readonly (() => unknown)[]): Promise<string[]>;
  /** Renders the component without a provider. */
  orphan(): unknown;
}

const textOf = ({ status, user, reason }: react.SessionState<User>): string => `${status} ${user?.username} ${reason}`;

function reactFramework(): Framework {
  const Shown = (): string => textOf(react.useSession<User>());
  const app = (given: Given): ReactElement =>
    createElement(
      react.SessionProvider<User>,
      { ...given, loadUser: '/me' },
      createElement(Shown),
      createElement(Shown),
    );
  return {
    render: async (given) => renderToString(app(given)).replaceAll('<!-- -->', '|'),
    orphan: () => renderToString(createElement(Shown)),
    async mount(given, changes) {
      Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
      let root!: ReactTestRenderer;
      await act(async () => void (root = create(createElement(StrictMode, null, app(given)))));
      const texts: string[] = [];
      for (const change of [() => undefined, ...changes]) {
        await act(async () => {
          await change();
          await settle();
        });
        texts.push((root.toJSON() as unknown as string[]).join('|'));
      }
      await act(async () => root.unmount());
      return texts;
    },
  };
}

interface VueNode {
  text: string;
  children: VueNode[];
  parent?: VueNode;
}

function vueFramework(): Framework {
  const node = (text = ''): VueNode => ({ text, children: [] });
  const { createApp } = createRenderer<VueNode, VueNode>({
    createElement: () => node(),
    createText: node,
    createComment: () => node(),
    setText: (one, text) => void (one.text = text),
    setElementText: (one, text) => void (one.text = text),
    insert: (one, parent) => void parent.children.push(Object.assign(one, { parent })),
    remove: (one) => void one.parent?.children.splice(one.parent.children.indexOf(one), 1),
    parentNode: ({ parent }) => parent ?? null,
    nextSibling: () => null,
    patchProp: () => undefined,
  });
  const Shown = {
    setup() {
      const session = vue.useSession<User>();
      return () => h('p', textOf(session.value));
    },
  };
  const use = <Host>(app: App<Host>, { client, ...options }: Given): App<Host> =>
    app.use(vue.sessionPlugin<User>(client, { ...options, loadUser: '/me' }));
  const root = { render: () => h('div', [h(Shown), h(Shown)]) };
  return {
    render: async (given) =>
      [...(await renderVue(use(createSSRApp(root), given))).matchAll(/<p>(.*?)<\/p>/g)]
        .map(([, text]) => text)
        .join('|'),
    orphan: () => renderVue(createSSRApp({ ...root, warnHandler: () => undefined })),
    async mount(given, changes) {
      const page = node();
      const app = use(createApp(root), given);
      app.mount(page);
      const texts: string[] = [];
      for (const change of [() => undefined, ...changes]) {
        await change();
        await settle();
        await nextTick();
        texts.push(page.children[0]!.children.map(({ text }) => text).join('|'));
      }
      app.unmount();
      return texts;
    },
  };
}

describe.each([
  ['React', reactFramework()],
  ['Vue', vueFramework()],
])('the session in %s', (_, framework) => {
  let page: FakePage;
  let server: FakeAuthServer;
  let client: AuthClient;
  let asked: number;

  beforeEach(() => {
    page = FakePage.open();
    asked = 0;
    const respond = (__: Request, username: string) => (asked++, Response.json({ username }));
    server = new FakeAuthServer({ users: { alice: 'secret', bob: 'secret' }, respond });
    client = server.client();
    jest.spyOn(console, 'warn').mockImplementation();
    jest.spyOn(console, 'error').mockImplementation();
  });
  afterEach(() => {
    page.close();
    jest.restoreAllMocks();
  });

  const twice = (text: string): string => `${text}|${text}`;

  it('every component shows each change, and a component that is gone receives nothing', async () => {
    const texts = await framework.mount({ client }, [
      () => client.login('alice', 'secret'),
      () => client.login('bob', 'secret'),
      () => {
        server.endSessions();
        return page.become('visible');
      },
    ]);
    const states = ['signedOut undefined null', 'signedIn alice null', 'signedIn bob null'];
    expect(texts).toEqual([...states, 'signedOut undefined signedOutElsewhere'].map(twice));
    await client.login('alice', 'secret');
    await page.become('visible');
    expect(asked).toBe(2);
  });

  it('a server renders the given user, or that the user is not known yet, and sends nothing', async () => {
    page.close();
    await client.login('alice', 'secret');
    expect(await framework.render({ client })).toBe(twice('loading undefined null'));
    expect(await framework.render({ client, initialUser: null })).toBe(twice('signedOut undefined null'));
    expect(await framework.render({ client, initialUser: { username: 'bob' } })).toBe(twice('signedIn bob null'));
    expect(asked).toBe(0);
  });

  it('a component without a provider names what is missing', async () => {
    await expect(async () => framework.orphan()).rejects.toThrow(/^useSession requires (a <SessionProvider>|app\.use)/);
  });
});
