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
      const response = await fetch(`${url}/auth/token/refresh`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refresh_token: this.refreshToken }),
      });
      const body = (await response.json()) as { access_token?: string; refresh_token?: string };
      if (body.access_token !== undefined) this.accessToken = body.access_token;
      if (body.refresh_token !== undefined) this.refreshToken = body.refresh_token;
      this.isInFlight = false;
      return response.status;
    } catch {
      return null;
    }
  }
}

/** Runs all clients in parallel until no responses arrive. `onStatus` receives the status of each response. */
export async function storm(
  clients: readonly StormClient[],
  url: string,
  onStatus: (status: number) => void,
): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        const status = await client.refresh(url);
        if (status === null) return;
        onStatus(status);
        if (status !== 200) return;
      }
    }),
  );
}
