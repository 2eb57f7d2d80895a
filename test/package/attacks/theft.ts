import {
  ELSEWHERE,
  HOME,
  INVALID_ACCESS,
  INVALID_REFRESH,
  NEW_PASSWORD,
  PASSWORD,
  TOO_MANY,
  type At,
} from './environment';

const HOUR_SECONDS = 3_600;
const WRONG = 'wrong password';

/** Guesses of a thief within a session. The test is slow, and does not depend on where the users are stored. */
export function guessesWithinSession(at: At): void {
  it('guesses within a stolen session are delayed, and the 100th ends this session only', async () => {
    const env = at();
    const alice = 'alice@guessing.example';
    const id = await env.signUp(alice);
    let phone = await env.login(alice);
    let stolen = await env.login(alice);
    const guess = (index: number) =>
      index % 2 === 0
        ? env.post('/auth/reauthenticate/', { password: WRONG }, stolen.access_token, ELSEWHERE)
        : env.post(
            '/auth/password/change/',
            { current_password: WRONG, new_password: NEW_PASSWORD },
            stolen.access_token,
            ELSEWHERE,
          );
    const wrongAt = (index: number) => ({
      status: 400,
      body: { [index % 2 === 0 ? 'password' : 'current_password']: ['Invalid password.'] },
    });
    for (let index = 0; index < 10; index++) expect(await guess(index)).toEqual(wrongAt(index));
    expect(await guess(0)).toEqual({ retryAfter: 30, status: 429, body: TOO_MANY });
    const right = { password: PASSWORD };
    const delayed = await env.post('/auth/reauthenticate/', right, stolen.access_token, ELSEWHERE);
    expect(delayed).toEqual({ retryAfter: 30, status: 429, body: TOO_MANY });
    await env.login(alice);
    for (let index = 10; index < 100; index++) {
      await env.advance(HOUR_SECONDS);
      const { status, body } = await env.refresh(stolen.refresh_token);
      expect(status).toBe(200);
      stolen = body;
      if (index % 20 === 0) phone = (await env.refresh(phone.refresh_token)).body;
      if (index === 99) await env.signals('');
      expect(await guess(index)).toEqual(wrongAt(index));
    }
    expect(await env.signals('user_logged_out')).toMatchObject([{ userId: id, reason: 'failed_reauthentication' }]);
    expect(await guess(0)).toEqual(INVALID_ACCESS);
    expect(await env.refresh(stolen.refresh_token)).toEqual(INVALID_REFRESH);
    phone = (await env.refresh(phone.refresh_token)).body;
    await env.expectLive(phone, alice);
    const [ended] = await env.history(phone.access_token, '?event=forced_logout');
    expect(ended).toMatchObject({ event: 'forced_logout', extra: { reason: 'failed_reauthentication' } });
  });
}

/** Other attacks of a thief who has tokens: replays, other networks, requests that need a recent login. */
export function theftAttacks(at: At): void {
  it('within the grace period a lost response is repeated, and a replay from another network after the first use is reuse', async () => {
    const env = at();
    const bob = 'bob@replay.example';
    const id = await env.signUp(bob);
    const first = await env.login(bob);
    const phone = await env.login(bob);
    const exchanged = await env.refresh(first.refresh_token);
    expect(exchanged.status).toBe(200);
    expect(await env.refresh(first.refresh_token)).toEqual(exchanged);
    await env.expectLive(exchanged.body, bob);
    expect(await env.refresh(first.refresh_token)).toEqual(exchanged);
    await env.signals('');
    expect(await env.refresh(first.refresh_token, ELSEWHERE)).toEqual(INVALID_REFRESH);
    const alarm = { userId: id, ipAddress: ELSEWHERE, sessionsEnded: 2, session: { id: first.session_id } };
    expect(await env.signals('token_reuse_detected')).toMatchObject([alarm]);
    for (const tokens of [exchanged.body, phone]) await env.expectEnded(tokens);
    expect(await env.refresh(exchanged.body.refresh_token)).toEqual(INVALID_REFRESH);
    const { access_token } = await env.login(bob);
    const rows = await env.history(access_token, '?event=token_reuse,token_refresh');
    expect(rows.map(({ event, extra, ip_address }) => ({ event, extra, ip_address }))).toEqual([
      { event: 'token_reuse', extra: { session_id: first.session_id, sessions_ended: 2 }, ip_address: ELSEWHERE },
      { event: 'token_refresh', extra: { replayed: true }, ip_address: HOME },
      { event: 'token_refresh', extra: { replayed: true }, ip_address: HOME },
      { event: 'token_refresh', extra: {}, ip_address: HOME },
    ]);
  });

  it('a refresh token that is presented again after the grace period ends every session', async () => {
    const env = at();
    const carol = 'carol@replay.example';
    await env.signUp(carol);
    const first = await env.login(carol);
    const { body: pair } = await env.refresh(first.refresh_token);
    await env.advance(10);
    expect(await env.refresh(first.refresh_token)).toEqual(INVALID_REFRESH);
    await env.expectEnded(pair);
  });

  it('a refresh from another network is recorded and emitted', async () => {
    const env = at();
    const alice = 'alice@moving.example';
    const id = await env.signUp(alice);
    const first = await env.login(alice);
    await env.signals('');
    const { status, body } = await env.refresh(first.refresh_token, '2001:db8:1:2:3::4');
    expect(status).toBe(200);
    const change = { userId: id, from: HOME, to: '2001:db8:1:2::/64', session: { id: first.session_id } };
    expect(await env.signals('session_network_changed')).toMatchObject([change]);
    const [row] = await env.history(body.access_token, '?event=token_refresh');
    expect(row).toMatchObject({ extra: { network_changed: true }, ip_address: '2001:db8:1:2:3::4' });
  });

  it('a stolen session cannot pay out without a recent login, and a reauthentication revokes its tokens', async () => {
    const env = at();
    const bob = 'bob@payout.example';
    await env.signUp(bob);
    const first = await env.login(bob);
    expect(await env.post('/payout', undefined, first.access_token)).toEqual({ status: 200, body: { paid: true } });
    await env.advance(301);
    const old = { status: 403, body: { detail: 'A recent login is required.', code: 'recent_login_required' } };
    expect(await env.post('/payout', undefined, first.access_token)).toEqual(old);
    const { body: next } = await env.refresh(first.refresh_token);
    expect(await env.post('/payout', undefined, next.access_token)).toEqual(old);
    const confirmed = await env.post('/auth/reauthenticate/', { password: PASSWORD }, next.access_token);
    expect(confirmed.status).toBe(200);
    expect(await env.post('/payout', undefined, next.access_token)).toEqual(INVALID_ACCESS);
    const paid = await env.post('/payout', undefined, confirmed.body.access_token);
    expect(paid).toEqual({ status: 200, body: { paid: true } });
    expect(await env.refresh(next.refresh_token)).toEqual(INVALID_REFRESH);
    await env.expectLive(confirmed.body, bob);
  });
}
