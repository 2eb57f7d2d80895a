import { Controller, Post, Req, UseGuards } from '@nestjs/common';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BearerAuthGuard, clientInfoOf, type AuthRequest } from 'nestjs-session-auth';
import { storiesOnBothPlatforms, type Stage } from '../e2e/stories';
import { PASSWORD } from '../support/host';
import { sendAndReset, sendAndResetUnseen } from '../support/reset-connection';

const addresses: (string | null | undefined)[] = [];

@Controller()
class OwnController {
  @Post('own')
  @UseGuards(BearerAuthGuard)
  async own(@Req() request: AuthRequest): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 20));
    addresses.push(clientInfoOf(request).ipAddress);
  }
}

const options = { controllers: [OwnController], auth: { recentLogin: { endpoint: true } } };

storiesOnBothPlatforms('a client that resets its connection', options, (at: Stage) => {
  const storedEvents = (names: readonly string[]): Promise<{ event: string; ip_address: string | null }[]> =>
    at.host.dataSource.query(
      `SELECT event, ip_address FROM auth_events WHERE event IN (${names.map((name) => `'${name}'`).join()})`,
    );
  /** Until so many rows are there. */
  const eventsOf = async (count: number, ...names: string[]): ReturnType<typeof storedEvents> => {
    for (const until = Date.now() + 5_000; Date.now() < until;) {
      const rows = await storedEvents(names);
      if (rows.length >= count) return rows;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return storedEvents(names);
  };

  it('after a login has its address recorded with the failure', async () => {
    const { host } = at;
    for (let i = 0; i < 3; i++) await sendAndReset(host, '/auth/login', { username: 'alice', password: 'wrong' });
    const failures = await eventsOf(3, 'login_failure');
    expect(failures.map(({ ip_address: ip }) => ip)).toEqual(Array<string>(3).fill('127.0.0.1'));
  });

  it('after it has ended sessions with a stolen token has its address recorded', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    await host.login();
    await sendAndReset(host, '/auth/logout/all', {}, `Authorization: Bearer ${token}`);
    const ends = await eventsOf(2, 'logout', 'session_revoked');
    expect(ends.map(({ ip_address: ip }) => ip)).toEqual(['127.0.0.1', '127.0.0.1']);
  });

  it('is known by its address on the routes of the application', async () => {
    const { host } = at;
    const { access_token: token } = await host.login();
    addresses.length = 0;
    await sendAndReset(host, '/own', {}, `Authorization: Bearer ${token}`);
    while (addresses.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(addresses).toEqual(['127.0.0.1']);
  });

  it.each(['login', 'token/refresh', 'logout', 'logout/all', 'reauthenticate', 'password/change'])(
    'before the server accepts it, so that its address is unknown, cannot use POST %s',
    async (path) => {
      const { host } = at;
      const { access_token: token, refresh_token } = await host.login();
      const body = {
        ...{ username: 'alice', password: PASSWORD, refresh_token },
        ...{ current_password: PASSWORD, new_password: 'another horse battery staple' },
      };
      const before = await storedEvents(EVENTS);
      sendAndResetUnseen(host, `/auth/${path}`, body, `Authorization: Bearer ${token}`);
      // The server goes on with what was sent before.
      for (let i = 0; i < 5; i++) await host.get('/me', token).expect(200);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await storedEvents(EVENTS)).toEqual(before);
      await host.get('/me', token).expect(200);
    },
  );
});

storiesOnBothPlatforms('a client on a Unix socket, which has no address', {}, (at: Stage) => {
  it('logs in', async () => {
    const { host } = at;
    const socketPath = join(tmpdir(), `auth-${process.pid}-${at.database.name}-${at.platform}.sock`);
    const server = createServer((...exchange) => host.app.getHttpServer().emit('request', ...exchange));
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const status = await new Promise((resolve, reject) => {
      const options = {
        socketPath,
        path: '/auth/login',
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
      };
      const login = send(options, (response) => resolve(response.resume().statusCode));
      login.on('error', reject).end(JSON.stringify({ username: 'alice', password: PASSWORD }));
    });
    server.close();
    expect(status).toBe(200);
  });
});

const EVENTS = [
  ...['login_success', 'login_failure', 'token_refresh', 'logout', 'session_revoked', 'forced_logout'],
  ...['reauthentication', 'password_change'],
];
