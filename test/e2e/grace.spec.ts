import { createHash } from 'node:crypto';
import { NodeCryptoSource } from '../../libs/auth/src/adapters/node-crypto-source';
import { SECOND } from '../support/driven-clock';
import { eventsOf, INVALID_REFRESH, setActive, storedEnd, stories, type Stage } from './stories';

/** What is kept of the answer to the last refresh. */
async function sealed(at: Stage, sessionId: string): Promise<string | null> {
  const [row] = await at.host.dataSource.query(
    `SELECT sealed_answer, sealed_until FROM auth_sessions WHERE id = '${sessionId}'`,
  );
  expect(row.sealed_until === null).toBe(row.sealed_answer === null);
  return row.sealed_answer;
}

stories('a grace period of ten seconds', { auth: { refreshReuseGraceSeconds: 10 } }, (at: Stage) => {
  it('gives the very same pair to a client that lost the answer, as often as it asks', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    for (const wait of [0, 5 * SECOND, 5 * SECOND - 1]) {
      host.clock.advance(wait);
      const { body } = await host.refresh(first.refresh_token).expect(200);
      expect(body).toEqual(pair);
    }
    await host.get('/me', pair.access_token).expect(200);
    expect(await eventsOf(host, pair.access_token)).toEqual(['token_refresh', 'login_success']);
    await host.refresh(pair.refresh_token).expect(200);
    expect(host.sent('token_reuse_detected')).toEqual([]);
    expect(host.sent('user_logged_out')).toEqual([]);
  });

  it.each([2, 5, 20])(
    '%i refreshes of one token at the same time all get one pair, and nobody is ended',
    async (count) => {
      const { host } = at;
      const first = await host.login();
      const answers = await Promise.all(Array.from({ length: count }, () => host.refresh(first.refresh_token)));
      const pairs = new Set(answers.map(({ status, text }) => `${status} ${text}`));
      expect(pairs.size).toBe(1);
      expect(answers[0]!.status).toBe(200);
      const live = await host.refresh(answers[0]!.body.refresh_token).expect(200);
      const refreshes = (await eventsOf(host, live.body.access_token)).filter((event) => event === 'token_refresh');
      expect(refreshes).toHaveLength(2);
    },
  );

  it('is over at its very millisecond: then it is reuse, and the signal tells how late it was', async () => {
    const { host } = at;
    const first = await host.login();
    const usedAt = new Date(host.clock.now());
    await host.refresh(first.refresh_token).expect(200);
    host.clock.advance(10 * SECOND);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'revoked', end_reason: 'token_reuse' });
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { usedAt, generationsBehind: 1 } }]);
  });

  it('is for the direct predecessor alone: a token before it is reuse at once', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: second } = await host.refresh(first.refresh_token).expect(200);
    await host.refresh(second.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 2 } }]);
    await host.refresh(second.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toHaveLength(1);
  });

  it('gives nothing once the session has ended, and brings it back in no way', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    await host.post('/auth/logout', pair.access_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await host.get('/me', pair.access_token).expect(401);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'logged_out', end_reason: 'logout' });
    expect(host.sent('token_reuse_detected')).toEqual([]);
  });

  it('gives nothing to a user who was disabled meanwhile, whose sessions end', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await setActive(host, 'alice', false);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    await setActive(host, 'alice', true);
    expect(await storedEnd(host, first.session_id)).toEqual({ state: 'revoked', end_reason: 'user_disabled' });
  });

  it('takes a token whose successor was replaced by a change of password for reuse', async () => {
    const { host } = at;
    const { refresh_token: first } = await host.login();
    const { body: second } = await host.refresh(first).expect(200);
    const change = { current_password: 'correct horse battery staple', new_password: 'correct horse battery staple' };
    await host.post('/auth/password/change', second.access_token, change).expect(200);
    await host.refresh(first).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 2 } }]);
  });

  it('keeps the answer sealed: neither the database nor the digest of the token opens it', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    const kept = (await sealed(at, first.session_id))!;
    const bytes = Buffer.from(kept, 'base64url');
    for (const token of [pair.access_token, pair.refresh_token, first.refresh_token]) {
      expect(kept).not.toContain(token);
      expect(bytes.toString('latin1')).not.toContain(token);
    }
    const crypto = new NodeCryptoSource();
    const digest = createHash('sha256').update(first.refresh_token).digest('hex');
    for (const guess of [digest, pair.refresh_token, first.session_id]) expect(crypto.unseal(guess, kept)).toBeNull();
    expect(crypto.unseal(first.refresh_token, kept)).toContain(pair.access_token);
  });

  it('refuses, and ends nothing, where the kept answer was tampered with', async () => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    const kept = (await sealed(at, first.session_id))!;
    for (const other of [`${kept.slice(0, -4)}AAAA`, kept.slice(0, 20), 'x']) {
      await host.dataSource.query(`UPDATE auth_sessions SET sealed_answer = '${other}'`);
      await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    }
    await host.get('/me', pair.access_token).expect(200);
  });

  it.each([
    'the use of the successor',
    'the end of the session',
    'a change of password',
    'the clean-up after the window',
  ])('is erased by %s', async (what) => {
    const { host } = at;
    const first = await host.login();
    const { body: pair } = await host.refresh(first.refresh_token).expect(200);
    const before = await sealed(at, first.session_id);
    expect(before).not.toBeNull();
    if (what === 'the use of the successor') {
      await host.refresh(pair.refresh_token).expect(200);
      expect(await sealed(at, first.session_id)).not.toBe(before);
      return;
    }
    if (what === 'the end of the session') await host.post('/auth/logout/all', pair.access_token).expect(200);
    if (what === 'a change of password') {
      const password = 'correct horse battery staple';
      const change = { current_password: password, new_password: password };
      await host.post('/auth/password/change', pair.access_token, change).expect(200);
    }
    if (what === 'the clean-up after the window') {
      host.clock.advance(10 * SECOND - 1);
      expect(await host.pruning.prune()).toMatchObject({ sealedAnswers: 0 });
      host.clock.advance(1);
      expect(await host.pruning.prune({ dryRun: true })).toMatchObject({ sealedAnswers: 1 });
      expect(await host.pruning.prune()).toMatchObject({ sealedAnswers: 1 });
      await host.get('/me', pair.access_token).expect(200);
    }
    expect(await sealed(at, first.session_id)).toBeNull();
  });
});

stories('no grace period', {}, (at: Stage) => {
  it('keeps no answer', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    expect(await sealed(at, first.session_id)).toBeNull();
  });

  it('is strict: the same token again is reuse within the same millisecond', async () => {
    const { host } = at;
    const first = await host.login();
    await host.refresh(first.refresh_token).expect(200);
    await host.refresh(first.refresh_token).expect(400, INVALID_REFRESH);
    expect(host.sent('token_reuse_detected')).toMatchObject([{ reuse: { generationsBehind: 1 } }]);
  });
});
