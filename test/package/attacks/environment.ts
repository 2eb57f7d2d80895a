/** Where the users of the application are: in a mapped entity, or behind a `UserStore` over another table. */
export type UsersVariant = 'entity' | 'store';

export const PASSWORD = 'correct horse battery staple';
export const NEW_PASSWORD = 'staple battery horse correct';
export const ADMINISTRATOR = 'carol@admin.example';

export const HOME = '198.51.100.7';
export const ELSEWHERE = '203.0.113.9';

export const INVALID_CREDENTIALS = { status: 400, body: { non_field_errors: ['Invalid credentials.'] } };
export const INVALID_REFRESH = { status: 400, body: { non_field_errors: ['Invalid or expired refresh token.'] } };
export const INVALID_ACCESS = {
  status: 401,
  body: { detail: 'Invalid or expired access token.', code: 'access_token_invalid' },
};
export const NO_ACCESS = {
  status: 401,
  body: { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' },
};
export const TOO_MANY = { detail: 'Too many failed attempts. Try again later.' };

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
}

/** The parsed body of any response. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** A running application, and the requests of attackers, users and administrators to it. */
export class Environment {
  constructor(
    private readonly url: string,
    readonly users: UsersVariant,
  ) {}

  get(path: string, token?: string, from?: string): Promise<Answer> {
    return this.send('GET', path, token, undefined, from);
  }

  post(path: string, body?: object, token?: string, from?: string): Promise<Answer> {
    return this.send('POST', path, token, body, from);
  }

  /** Returns status and body, and the seconds of `Retry-After` if the response has this header. */
  async send(method: string, path: string, token?: string, body?: object, from = HOME): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        'X-Forwarded-For': from,
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(20_000),
    });
    const retryAfter = response.headers.get('retry-after');
    const text = await response.text();
    return {
      ...(retryAfter === null ? {} : { retryAfter: Number(retryAfter) }),
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
    };
  }

  async signUp(email: string): Promise<number> {
    const { status, body } = await this.post('/signup', { email, password: PASSWORD });
    expect({ status, body }).toEqual({ status: 201, body: { id: expect.any(Number), email } });
    return body.id;
  }

  tryLogin(username: string, password: string, from?: string): Promise<Answer> {
    return this.post('/auth/login/', { username, password }, undefined, from);
  }

  async login(username: string, { password = PASSWORD, from = HOME } = {}): Promise<Tokens> {
    const { status, body } = await this.tryLogin(username, password, from);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        session_id: expect.any(String),
        token_type: 'Bearer',
      },
    });
    return body;
  }

  refresh(refreshToken: string, from?: string): Promise<Answer> {
    return this.post('/auth/token/refresh/', { refresh_token: refreshToken }, undefined, from);
  }

  /** Sends wrong passwords evenly from the given number of networks. */
  async guess(username: string, times: number, networks: number): Promise<void> {
    for (let done = 0; done < times; done += networks) {
      const from = Array.from({ length: Math.min(networks, times - done) }, (_, index) => `192.0.2.${index + 1}`);
      const answers = await Promise.all(from.map((ip) => this.tryLogin(username, 'wrong password', ip)));
      expect(answers).toEqual(from.map(() => INVALID_CREDENTIALS));
    }
  }

  async expectLive({ access_token }: Pick<Tokens, 'access_token'>, email: string): Promise<void> {
    const answer = { status: 200, body: { email, session_id: expect.any(String) } };
    expect(await this.get('/me', access_token)).toEqual(answer);
  }

  async expectEnded({ access_token }: Pick<Tokens, 'access_token'>): Promise<void> {
    expect(await this.get('/me', access_token)).toEqual(INVALID_ACCESS);
  }

  async history(token: string, query = ''): Promise<Json[]> {
    const { status, body } = await this.get(`/auth/history/${query}`, token);
    expect(status).toBe(200);
    return body;
  }

  /** Advances the clock of the application. */
  async advance(seconds: number): Promise<void> {
    const moved = await this.post('/driver/clock', { seconds });
    expect(moved).toEqual({ status: 200, body: { now: expect.any(Number) } });
  }

  /** Returns the payloads of one signal since the last call, and clears all recorded signals. */
  async signals(name: string): Promise<Json[]> {
    const { status, body } = await this.get('/driver/signals');
    expect(status).toBe(200);
    return body.filter((signal: { name: string }) => signal.name === name).map(({ payload }: Json) => payload);
  }

  /** Sends a request as carol, the administrator. */
  async asAdministrator(method: string, path: string, body?: object): Promise<Answer> {
    const signedUp = await this.post('/signup', { email: ADMINISTRATOR, password: PASSWORD });
    expect([201, 409]).toContain(signedUp.status);
    const { access_token } = await this.login(ADMINISTRATOR);
    const answer = await this.send(method, `/admin/${path}`, access_token, body);
    expect(await this.post('/auth/logout/', undefined, access_token)).toEqual({
      status: 200,
      body: { detail: 'Logged out successfully.' },
    });
    return answer;
  }
}

/** Returns the environment of the running tests. */
export type At = () => Environment;
