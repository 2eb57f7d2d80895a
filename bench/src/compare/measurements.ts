import type { ApplicationProcess } from '../application/application-process';
import { times, timesAsync } from '../contenders/contender';
import { failingUsernameOf, PASSWORD, usernameOf } from '../contenders/packed';
import type { LoadJob } from '../load/load';

export const MEASUREMENTS = ['guard', 'refresh', 'login', 'failed-login'] as const;

/** A kind of request with which versions of the library are compared. */
export type Measurement = (typeof MEASUREMENTS)[number];

/** Creates the load of a measurement on an application that runs the contender `packed`. */
export async function loadOf(
  measurement: Measurement,
  connections: number,
  { url, headers }: ApplicationProcess,
): Promise<Omit<LoadJob, 'seconds'>> {
  const loginUrl = `${url}/auth/login/`;
  const logins = (name: (index: number) => string, password: string): object[] =>
    times(headers.length, (index) => ({ username: name(index), password }));
  switch (measurement) {
    case 'guard':
      return { connections, url: `${url}/me`, headers };
    case 'refresh': {
      // A load ends while requests are in flight, so the tokens of the previous load may be used.
      const credentials = logins(usernameOf, PASSWORD);
      const bodies = await timesAsync(connections, async (index) => {
        const { refresh_token } = await post(loginUrl, credentials[index % credentials.length]!);
        return { refresh_token };
      });
      return { connections, url: `${url}/auth/token/refresh/`, headers: [], bodies, follow: 'refresh_token' };
    }
    case 'login':
      return { connections, url: loginUrl, headers: [], bodies: logins(usernameOf, PASSWORD) };
    case 'failed-login':
      return { connections, url: loginUrl, headers: [], bodies: logins(failingUsernameOf, `not ${PASSWORD}`) };
  }
}

async function post(url: string, body: object): Promise<{ refresh_token: string }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`${url} responded ${response.status}: ${await response.text()}`);
  return (await response.json()) as { refresh_token: string };
}
