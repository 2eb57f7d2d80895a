import { PASSWORD, type TestApplication } from '../support/test-application';

/** Logs in from an address, and returns `ok`, or the code of the error with the seconds to wait. */
export async function tryLoginFrom(
  app: TestApplication,
  ipAddress: string | null,
  password: string,
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

/** Asserts the result of a login with the right password. */
export async function expectLogin(app: TestApplication, ipAddress: string | null, result: string, username = 'alice') {
  expect(await tryLoginFrom(app, ipAddress, PASSWORD, username)).toBe(result);
}

/** Fails from an address the given number of times. */
export async function fail(app: TestApplication, times: number, ipAddress = '192.0.2.1', username = 'alice') {
  for (let i = 0; i < times; i++) {
    expect(await tryLoginFrom(app, ipAddress, 'wrong', username)).toBe('invalid_credentials');
  }
}

/** Fails from separate networks. The count of all failures but the first and last is stored directly. */
export async function failElsewhere(app: TestApplication, times: number, username = 'alice'): Promise<void> {
  await fail(app, 1, '198.51.100.0', username);
  const isOfAccount = `${app.dataSource.driver.escape('key')} = account_key`;
  const sql = `UPDATE auth_login_failures SET failure_count = ${times - 1} WHERE failure_count = 1 AND ${isOfAccount}`;
  await app.dataSource.query(sql);
  await fail(app, 1, `198.51.100.${times}`, username);
}
