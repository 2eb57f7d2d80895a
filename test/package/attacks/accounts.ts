import {
  ELSEWHERE,
  INVALID_ACCESS,
  INVALID_CREDENTIALS,
  INVALID_REFRESH,
  NEW_PASSWORD,
  PASSWORD,
  type At,
} from './environment';

const INVALID_TOKEN = { status: 400, body: { non_field_errors: ['Invalid or expired token.'] } };
const RESET = { status: 200, body: { reset: true } };

/** Attacks on accounts: reset tokens, disabled and deleted users, reused ids, and administration. */
export function accountAttacks(at: At): void {
  const requestReset = async (email: string): Promise<string> => {
    const { status, body } = await at().post('/reset/request', { email });
    expect({ status, body }).toEqual({ status: 200, body: { token: expect.any(String) } });
    return body.token;
  };
  const reset = (token: string, password = NEW_PASSWORD) => at().post('/reset', { token, password });
  const mark = async (id: number, state: { blocked?: boolean; deleted?: boolean }) =>
    expect(await at().asAdministrator('PUT', `users/${id}`, state)).toEqual({ status: 200, body: { marked: id } });

  it('a reset token from before a user was disabled is refused once the user is enabled again', async () => {
    const env = at();
    const alice = 'alice@reset.example';
    const id = await env.signUp(alice);
    const session = await env.login(alice);
    const token = await requestReset(alice);
    const disabled = await env.asAdministrator('POST', `users/${id}/disable`);
    expect(disabled).toEqual({ status: 200, body: { disabled: id } });
    await env.expectEnded(session);
    expect(await env.tryLogin(alice, PASSWORD)).toEqual(INVALID_CREDENTIALS);
    expect(await reset(token)).toEqual(INVALID_TOKEN);
    const enabled = await env.asAdministrator('POST', `users/${id}/enable`);
    expect(enabled).toEqual({ status: 200, body: { enabled: id } });
    expect(await reset(token)).toEqual(INVALID_TOKEN);
    await env.expectEnded(session);
    expect(await env.refresh(session.refresh_token)).toEqual(INVALID_REFRESH);
    await env.login(alice);
  });

  it('six parallel requests leave one reset token, which works once and ends every session', async () => {
    const env = at();
    const bob = 'bob@reset.example';
    await env.signUp(bob);
    const session = await env.login(bob);
    const requests = Array.from({ length: 6 }, () => env.post('/reset/request', { email: bob }));
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const redeemed = [];
    for (const { body } of answers) redeemed.push(await reset(body.token));
    expect(redeemed.filter(({ status }) => status === 200)).toEqual([RESET]);
    expect(redeemed.filter(({ status }) => status !== 200)).toEqual(Array(5).fill(INVALID_TOKEN));
    for (const { body } of answers) expect(await reset(body.token)).toEqual(INVALID_TOKEN);
    await env.expectEnded(session);
    expect(await env.tryLogin(bob, PASSWORD)).toEqual(INVALID_CREDENTIALS);
    await env.login(bob, { password: NEW_PASSWORD });
  });

  it('a password change revokes the reset token', async () => {
    const env = at();
    const carol = 'carol@reset.example';
    await env.signUp(carol);
    const { access_token } = await env.login(carol);
    const token = await requestReset(carol);
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect((await env.post('/auth/password/change/', change, access_token)).status).toBe(200);
    expect(await reset(token)).toEqual(INVALID_TOKEN);
    expect(await env.get('/me', access_token)).toEqual(INVALID_ACCESS);
  });

  it.each([{ blocked: true }, { deleted: true }])(
    'a user whose row is set to %j without the library is refused, and resetting the row restores no session',
    async (state) => {
      const env = at();
      const name = Object.keys(state)[0]!;
      const bob = `bob@${name}.example`;
      const id = await env.signUp(bob);
      const sessions = [await env.login(bob), await env.login(bob, { from: ELSEWHERE })];
      await mark(id, state);
      await env.expectEnded(sessions[0]!);
      expect(await env.tryLogin(bob, PASSWORD)).toEqual(INVALID_CREDENTIALS);
      await mark(id, { [name]: false });
      for (const tokens of sessions) {
        await env.expectEnded(tokens);
        expect(await env.refresh(tokens.refresh_token)).toEqual(INVALID_REFRESH);
      }
      await env.login(bob);
    },
  );

  it("a user who gets the id of a deleted user gets none of that user's sessions, reset tokens and history", async () => {
    const env = at();
    const [alice, bob] = ['alice@ids.example', 'bob@ids.example'];
    const id = await env.signUp(alice);
    const session = await env.login(alice);
    const token = await requestReset(alice);
    const removed = await env.asAdministrator('DELETE', `users/${id}`);
    expect(removed).toEqual({ status: 200, body: { removed: id } });
    // The store reuses the number by itself, in createUser.
    if (env.users === 'store') expect(await env.signUp(bob)).toBe(id);
    else {
      const inserted = await env.asAdministrator('POST', `users/${id}`, { email: bob, password: PASSWORD });
      expect(inserted).toEqual({ status: 201, body: { inserted: id } });
    }
    await env.expectEnded(session);
    expect(await env.refresh(session.refresh_token)).toEqual(INVALID_REFRESH);
    expect(await reset(token)).toEqual(INVALID_TOKEN);
    expect(await env.tryLogin(alice, PASSWORD)).toEqual(INVALID_CREDENTIALS);
    const { access_token } = await env.login(bob);
    expect((await env.history(access_token)).map(({ event }) => event)).toEqual(['login_success']);
    const { body } = await env.get('/auth/sessions/', access_token);
    expect(body).toHaveLength(1);
  });

  it("a filter with `everyone: false` ends no session, and a filter with a user ends that user's sessions", async () => {
    const env = at();
    const [alice, bob] = ['alice@filter.example', 'bob@filter.example'];
    const userId = await env.signUp(alice);
    await env.signUp(bob);
    const [ofAlice, ofBob] = [await env.login(alice), await env.login(bob)];
    const everyone = 'Pass { everyone: true } alone, or pass criteria without `everyone`.';
    for (const filter of [{ everyone: false, userId }, { everyone: true, userId }, { everyone: false }]) {
      const answer = await env.asAdministrator('POST', 'sessions/end', filter);
      expect(answer).toEqual({ status: 400, body: { everyone: [everyone] } });
    }
    for (const [filter, field] of [
      [{}, 'filter'],
      [{ userId: null }, 'userId'],
    ] as const) {
      const { status, body } = await env.asAdministrator('POST', 'sessions/end', filter);
      expect({ status, body }).toEqual({ status: 400, body: { [field]: [expect.any(String)] } });
    }
    await env.expectLive(ofAlice, alice);
    await env.expectLive(ofBob, bob);
    const ended = await env.asAdministrator('POST', 'sessions/end', { userId });
    expect(ended).toEqual({ status: 200, body: { ended: 1 } });
    await env.expectEnded(ofAlice);
    await env.expectLive(ofBob, bob);
    expect(await env.send('POST', '/admin/sessions/end', ofBob.access_token, { userId })).toEqual({
      status: 403,
      body: { message: 'Administrators only.', error: 'Forbidden', statusCode: 403 },
    });
  });

  it('an id that is not exactly the id of a user opens no session', async () => {
    const env = at();
    const id = await env.signUp('alice@zero.example');
    // In another store, the table has to compare ids with text that is not a number.
    const texts = env.users === 'entity' ? [`${id}abc`, `0${id}`] : [`0${id}`];
    for (const user_id of [0, -1, 2_000_000_000, ...texts]) {
      const { status, body } = await env.asAdministrator('POST', 'sessions/open', { user_id, count: 1 });
      expect({ user_id, status, body }).toEqual({
        user_id,
        status: 404,
        body: { detail: expect.any(String), code: 'unknown_user' },
      });
    }
  });
}

/** A slow test, which does not depend on where the users are stored. */
export function sessionFlood(at: At): void {
  it('a user has at most 1,000 sessions, and one request ends them', async () => {
    const env = at();
    const alice = 'alice@many.example';
    const user_id = await env.signUp(alice);
    const first = await env.login(alice);
    await env.advance(1);
    const opened = await env.asAdministrator('POST', 'sessions/open', { user_id, count: 1_000 });
    expect(opened).toEqual({ status: 200, body: { opened: 1_000 } });
    await env.expectEnded(first);
    await env.advance(1);
    const { access_token } = await env.login(alice);
    expect((await env.get('/auth/sessions/', access_token)).body).toHaveLength(1_000);
    const answer = await env.post('/auth/logout/all/', { keep_current: true }, access_token);
    expect(answer).toEqual({ status: 200, body: { detail: 'Revoked 999 session(s).' } });
    expect((await env.get('/auth/sessions/', access_token)).body).toHaveLength(1);
  });
}
