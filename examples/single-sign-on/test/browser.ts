import assert from 'node:assert/strict';

interface Account {
  readonly name: string;
  readonly amr?: string;
}

/** An HTTP client that stores cookies for each origin, and sends `Origin` like a script of the application's page. */
export class Browser {
  /** The paths of the login forms that the provider has shown. */
  readonly forms: string[] = [];
  private readonly jars = new Map<string, Map<string, string>>();

  constructor(private readonly origin: string) {}

  /** The cookies of the application. */
  get cookies(): Map<string, string> {
    return this.jarOf(this.origin);
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.jarOf(new URL(url, this.origin).origin);
    const headers = new Headers(init.headers);
    headers.set('Cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(new URL(url, this.origin), { redirect: 'manual', ...init, headers });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /max-age=0/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  post(path: string, body: object = {}, from = this.origin): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', Origin: from };
    return this.send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** Begins a flow, and returns the URL of the provider. */
  async start(route: 'login' | 'link' = 'login'): Promise<URL> {
    const response = await this.post(`/sso/${route}`);
    const body = (await response.json()) as { url: string };
    assert.equal(response.status, 201, JSON.stringify(body));
    return new URL(body.url);
  }

  /** Logs in at the provider if the provider asks for a login, and returns the URL of the callback. */
  async authorize(url: URL, { name, amr = 'pwd' }: Account): Promise<URL> {
    let next = url;
    while (next.origin !== this.origin) {
      let response = await this.send(next.href);
      if (response.status === 200) {
        this.forms.push(next.pathname);
        response = await this.send(next.href, { method: 'POST', body: new URLSearchParams({ name, amr }) });
      }
      const location = response.headers.get('location');
      assert(location, `${response.status} ${await response.text()}`);
      next = new URL(location, next);
    }
    return next;
  }

  /** Sends the callback to the application, as the page does. */
  finish(callback: URL, from = this.origin): Promise<Response> {
    return this.post(`/sso/callback${callback.search}`, {}, from);
  }

  async signIn(account: Account): Promise<Response> {
    return this.finish(await this.authorize(await this.start(), account));
  }

  /** Returns the ids of the user's sessions, or null if the browser has no session. */
  async sessions(): Promise<string[] | null> {
    const response = await this.send('/auth/sessions/');
    if (response.status === 401) return null;
    return ((await response.json()) as { id: string }[]).map(({ id }) => id);
  }

  private jarOf(origin: string): Map<string, string> {
    const jar = this.jars.get(origin) ?? new Map<string, string>();
    this.jars.set(origin, jar);
    return jar;
  }
}
