/** A client with one session, which refreshes as fast as it is answered. */
export class StormClient {
  isInFlight = false;

  constructor(
    readonly sessionId: string,
    public refreshToken: string,
  ) {}

  /** @returns the status, or null where no answer came */
  async refresh(url: string): Promise<number | null> {
    this.isInFlight = true;
    try {
      const answer = await fetch(`${url}/auth/token/refresh`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refresh_token: this.refreshToken }),
      });
      const body = (await answer.json()) as { refresh_token?: string };
      if (body.refresh_token !== undefined) this.refreshToken = body.refresh_token;
      this.isInFlight = false;
      return answer.status;
    } catch {
      return null;
    }
  }
}

/** All of them at once, until no answer comes any more. `answered` is told each status. */
export async function storm(
  clients: readonly StormClient[],
  url: string,
  answered: (status: number) => void,
): Promise<void> {
  await Promise.all(
    clients.map(async (client) => {
      for (;;) {
        const status = await client.refresh(url);
        if (status === null) return;
        answered(status);
        if (status !== 200) return;
      }
    }),
  );
}
