import { jsonRequest } from './request-with-retries';

/** A client with one session, which refreshes as fast as it gets responses. */
export class StormClient {
  isInFlight = false;

  constructor(
    readonly sessionId: string,
    public accessToken: string,
    public refreshToken: string,
  ) {}

  /** @returns the status, or null without a response */
  async refresh(url: string): Promise<number | null> {
    this.isInFlight = true;
    try {
      const response = await fetch(`${url}/auth/token/refresh`, jsonRequest({ refresh_token: this.refreshToken }));
      const body = (await response.json()) as { access_token?: string; refresh_token?: string };
      this.accessToken = body.access_token ?? this.accessToken;
      this.refreshToken = body.refresh_token ?? this.refreshToken;
      this.isInFlight = false;
      return response.status;
    } catch {
      return null;
    }
  }

  /** Refreshes until no response arrives, or a refusal. `onStatus` receives the status of each response. */
  async storm(url: string, onStatus: (status: number) => void): Promise<void> {
    for (let status: number | null = 200; status === 200;) {
      status = await this.refresh(url);
      if (status !== null) onStatus(status);
    }
  }
}
