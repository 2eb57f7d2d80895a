import type { Authenticator, Deviation } from './authenticator.js';

/** The status and the body of a response. */
export interface Outcome {
  readonly status: number;
  readonly code?: string;
  readonly login_ticket?: string;
  readonly challenge?: string;
  readonly [name: string]: unknown;
}

/** An HTTP client that stores cookies and sends `Origin`, as a browser does. */
export class Client {
  readonly cookies = new Map<string, string>();

  constructor(private readonly origin: string) {}

  async post(path: string, body: object = {}, origin = this.origin): Promise<Outcome> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: cookie };
    const response = await fetch(this.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      this.cookies.set(name, value);
    }
    const text = await response.text();
    return { ...(text ? (JSON.parse(text) as object) : {}), status: response.status };
  }

  async isSignedIn(): Promise<boolean> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { status } = await fetch(`${this.origin}/auth/sessions`, { headers: { Cookie: cookie } });
    return status === 200;
  }

  async challenge(path = '/passkeys/options'): Promise<string> {
    const { challenge } = await this.post(path);
    if (challenge === undefined) throw new Error(`${path} returned no challenge.`);
    return challenge;
  }

  /** Posts the passkey's response to a new challenge. */
  async respond(path: string, passkey: Authenticator, deviation: Deviation = {}, extra: object = {}): Promise<Outcome> {
    return this.post(path, { ...passkey.get(await this.challenge(), deviation), ...extra });
  }

  async register(passkey: Authenticator, deviation: Deviation = {}): Promise<Outcome> {
    const challenge = await this.challenge('/passkeys/registration/options');
    return this.post('/passkeys/registration', passkey.create(challenge, deviation));
  }
}
