import { type TestApplication } from '../support/test-application';

/** Logs in from an address, and returns `ok`, or the code of the error with the seconds to wait. */
export async function tryLogin(
  app: TestApplication,
  password: string,
  ipAddress: string | null = '192.0.2.1',
  username = 'alice',
): Promise<string> {
  try {
    await app.auth.login({ username, password }, { ipAddress });
    return 'ok';
  } catch (error) {
    const { code, retryAfterSeconds } = error as { code: string; retryAfterSeconds: number | null };
    return retryAfterSeconds === null ? code : `${code} ${retryAfterSeconds}`;
  }
}

export async function fail(app: TestApplication, times: number, ipAddress?: string, username?: string): Promise<void> {
  for (let i = 0; i < times; i++) expect(await tryLogin(app, 'wrong', ipAddress, username)).toBe('invalid_credentials');
}
