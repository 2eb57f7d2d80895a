import { AuthService } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { EntityManager } from 'typeorm';
import {
  app,
  codeOf,
  enable,
  get,
  nextStep,
  PASSWORD,
  post,
  STEP_MS,
  stranger,
  ticketOf,
  username,
  withCode,
  wrongCode,
} from './support.js';

describe('a login with a code', () => {
  it('accepts the codes of three time steps, and no other codes', async () => {
    const { secret } = await enable(username);
    mock.timers.tick(10 * STEP_MS);
    for (const [step, status] of [
      [-2, 422],
      [2, 422],
      [-1, 200],
      [0, 200],
      [1, 200],
    ] as const) {
      assert.equal((await withCode(await ticketOf(username), await codeOf(secret, step))).status, status, `${step}`);
    }
  });

  it('accepts codes with spaces around them, and recovery codes in upper case', async () => {
    const { secret, recoveryCodes } = await enable(username);
    assert.equal((await withCode(await ticketOf(username), ` ${await codeOf(secret)}\n`)).status, 200);
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[0]!.toUpperCase())).status, 200);
  });

  it('refuses a code that is older than the last accepted code', async () => {
    const { secret } = await enable(username);
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret, 1))).status, 200);
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret))).status, 422);
  });

  it('cannot open a second session with the same ticket', async () => {
    const { secret } = await enable(username);
    const ticket = await ticketOf(username);
    assert.equal((await withCode(ticket, await codeOf(secret))).status, 200);
    nextStep();
    const replay = await withCode(ticket, await codeOf(secret));
    assert.deepEqual([replay.status, replay.body.non_field_errors], [400, ['Invalid or expired login ticket.']]);
  });

  it("refuses one user's ticket with another user's code", async () => {
    const mine = await enable(username);
    await app.get(AuthService).createUser({ username: stranger, password: PASSWORD });
    await enable(stranger);
    const ticket = await ticketOf(stranger);
    assert.equal((await withCode(ticket, await codeOf(mine.secret))).status, 422);
    assert.equal((await withCode(ticket, mine.recoveryCodes[0])).status, 422);
  });

  it('accepts a code only once if consecutive requests send the same code', async () => {
    const { secret } = await enable(username);
    const code = await codeOf(secret);
    assert.equal((await withCode(await ticketOf(username), code)).status, 200);
    assert.equal((await withCode(await ticketOf(username), code)).status, 422);
  });

  it('refuses the code that confirmed the enrollment', async () => {
    const { secret } = await enable(username);
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret, -1))).status, 422);
  });

  it('opens one session if two requests read the same state before either writes', async () => {
    const { secret } = await enable(username);
    const tickets = [await ticketOf(username), await ticketOf(username)];
    const code = await codeOf(secret);
    const database = app.get(EntityManager);
    const findOneBy = database.findOneBy.bind(database) as (...args: unknown[]) => Promise<unknown>;
    const both = Promise.withResolvers<void>();
    let reads = 0;
    const held = mock.method(database, 'findOneBy', async (...args: unknown[]) => {
      const found = await findOneBy(...args);
      if ((reads += 1) === 2) both.resolve();
      await both.promise;
      return found;
    });
    const answers = await Promise.all(tickets.map((ticket) => withCode(ticket, code)));
    held.mock.restore();
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
  });

  it('opens one session if 20 requests with 20 tickets send the same code', async () => {
    const { secret, tokens } = await enable(username);
    const tickets: string[] = [];
    for (let i = 0; i < 20; i += 1) tickets.push(await ticketOf(username));
    const code = await codeOf(secret);
    const answers = await Promise.all(tickets.map((ticket) => withCode(ticket, code)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal((await get('/auth/sessions', tokens.accessToken)).body.length, 2);
  });

  it('opens one session if 20 requests send the same ticket and code', async () => {
    const { secret } = await enable(username);
    const ticket = await ticketOf(username);
    const code = await codeOf(secret);
    const answers = await Promise.all(Array.from({ length: 20 }, () => withCode(ticket, code)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  });

  it('invalidates the ticket after the fifth wrong code', async () => {
    const { secret } = await enable(username);
    const ticket = await ticketOf(username);
    const code = await wrongCode(secret);
    for (let i = 0; i < 5; i += 1) assert.equal((await withCode(ticket, code)).status, 422);
    assert.equal((await withCode(ticket, await codeOf(secret))).status, 400);
  });

  it('is throttled after ten wrong codes, counted over all tickets', async () => {
    const { secret } = await enable(username);
    const code = await wrongCode(secret);
    for (let i = 0; i < 10; i += 1) assert.equal((await withCode(await ticketOf(username), code)).status, 422);
    const refused = await withCode(await ticketOf(username), await codeOf(secret));
    assert.deepEqual([refused.status, refused.retryAfter], [429, '30']);
    nextStep();
    assert.equal((await withCode(await ticketOf(username), await codeOf(secret))).status, 200);
  });

  it('is required at every login endpoint', async () => {
    await enable(username);
    for (const path of ['/login', '/auth/login']) {
      const { status, body } = await post(path, { username, password: PASSWORD });
      assert.deepEqual([status, Object.keys(body).sort()], [403, ['code', 'detail', 'login_ticket']]);
      assert.equal((await withCode(body.login_ticket, undefined)).status, 422);
      assert.equal((await get('/auth/sessions', body.login_ticket)).status, 401);
      assert.equal((await post('/auth/token/refresh', { refresh_token: body.login_ticket })).status, 400);
    }
  });

  it('responds to an invalid code or body with a 4xx status', async () => {
    await enable(username);
    for (const code of [null, 123456, {}, { toString: 1 }, ['123456'], '１２３４５６', ' 12345', '']) {
      assert.match(String((await withCode(await ticketOf(username), code)).status), /^4/);
    }
    assert.equal((await post('/login/code', { ticket: { toString: 1 }, code: '123456' })).status, 400);
    assert.equal((await post('/login/code')).status, 400);
    assert.equal((await post('/login')).status, 400);
  });
});

describe('a recovery code', () => {
  it('replaces a one-time code once, and is recorded as a separate method', async () => {
    const { recoveryCodes } = await enable(username);
    const { status, body } = await withCode(await ticketOf(username), recoveryCodes[0]);
    assert.equal(status, 200);
    const principal = await app.get(AuthService).authenticate(body.accessToken);
    assert.deepEqual(Object.keys(principal!.methods).sort(), ['pwd', 'recovery']);
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[0])).status, 422);
    assert.equal((await withCode(await ticketOf(username), recoveryCodes[1])).status, 200);
  });

  it('opens one session if it is sent twice in parallel', async () => {
    const { recoveryCodes } = await enable(username);
    const tickets = [await ticketOf(username), await ticketOf(username)];
    const answers = await Promise.all(tickets.map((ticket) => withCode(ticket, recoveryCodes[0])));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
  });
});
