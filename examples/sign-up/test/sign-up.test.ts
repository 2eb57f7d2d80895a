import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, it, mock } from 'node:test';
import { DataSource } from 'typeorm';
import { Application, MINUTE, PASSWORD, type Answer } from './application.js';
import { Mail, User } from '../src/entities.js';

const ALICE = 'alice@example.com';
const NEW_PASSWORD = 'battery staple correct horse';

let app: Application;
beforeEach(async () => void (app = await Application.start()));
afterEach(() => app.close());
after(() => Application.closeSmtp());

const users = (): Promise<User[]> => app.nest.get(DataSource).getRepository(User).find();
const complete = (token: string, password = PASSWORD): Promise<Answer> =>
  app.post('/sign-up/complete', { token, password });
const reset = (token: string): Promise<Answer> =>
  app.post('/password-reset/complete', { token, new_password: NEW_PASSWORD });
const refresh = (session: Answer): Promise<Answer> => {
  const { refresh_token } = JSON.parse(session.body) as { refresh_token: string };
  return app.post('/auth/token/refresh/', { refresh_token });
};

describe('a sign-up', () => {
  it('creates the account with the link, and accepts any spelling of the address at login', async () => {
    const mail = await app.mailFor('sign-up', 'Alice@Example.com');
    assert.deepEqual(mail.to, ['Alice@example.com']);
    assert.deepEqual(await users(), []);
    assert.equal((await complete(mail.token, 'too short')).status, 400);
    const { status, body } = await complete(mail.token);
    assert.deepEqual([status, body], [201, '']);
    const [{ email, emailConfirmedAt }] = (await users()) as [User];
    assert.deepEqual([email, emailConfirmedAt], ['Alice@Example.com', new Date()]);
    assert.equal((await app.logIn(ALICE)).status, 200);
    assert.equal((await app.logIn('ALICE@EXAMPLE.COM')).status, 200);
  });

  it("does not let an attacker sign in by starting it with another person's address", async () => {
    await app.post('/sign-up', { email: ALICE, password: NEW_PASSWORD, emailConfirmedAt: new Date() });
    assert.deepEqual(await users(), []);
    assert.equal((await app.logIn(ALICE, NEW_PASSWORD)).status, 400);
    const [mail] = await app.receive();
    await complete(mail!.token);
    app.advance(11 * MINUTE);
    const again = await app.mailFor('sign-up', ALICE);
    assert.deepEqual([again.subject, again.token], ['You already have an account', '']);
    assert.equal((await app.logIn(ALICE, NEW_PASSWORD)).status, 400);
    assert.equal((await app.logIn(ALICE)).status, 200);
  });

  it('does not open a session', async () => {
    const { token } = await app.mailFor('sign-up', ALICE);
    const { headers, body } = await complete(token);
    assert.deepEqual([headers['set-cookie'], body], [undefined, '']);
  });
});

describe('the token of a sign-up', () => {
  it('creates one account if 20 requests present the token at the same time, and no account later', async () => {
    const { token } = await app.mailFor('sign-up', ALICE);
    const from = (n: number): Record<string, string> => ({ 'x-forwarded-for': `192.0.2.${n}` });
    const present = (_: unknown, n: number): Promise<Answer> =>
      app.post('/sign-up/complete', { token, password: `${PASSWORD} ${n}` }, from(n));
    const answers = await Promise.all(Array.from({ length: 20 }, present));
    assert.equal(answers.filter(({ status }) => status === 201).length, 1);
    assert.ok(answers.every(({ status }) => [201, 400, 409, 503].includes(status)));
    assert.equal((await users()).length, 1);
    await app.nest.get(DataSource).getRepository(User).delete({ email: ALICE });
    assert.equal((await complete(token)).status, 400);
    assert.deepEqual(await users(), []);
  });

  it('expires after a day', async () => {
    const { token } = await app.mailFor('sign-up', ALICE);
    const other = await app.mailFor('sign-up', 'bob@example.com');
    app.advance(24 * 60 * MINUTE - 1);
    assert.equal((await complete(token)).status, 201);
    app.advance(1);
    assert.equal((await complete(other.token)).status, 400);
    app.advance(1);
    await app.receive();
    assert.doesNotMatch(await app.copyOfDatabase(), /bob/);
  });

  it('is revoked by a newer request for a link', async () => {
    const older = await app.mailFor('sign-up', ALICE);
    app.advance(11 * MINUTE);
    await app.post('/sign-up', { email: 'ALICE@example.com' });
    assert.equal((await complete(older.token)).status, 400);
    const [newer] = await app.receive();
    assert.equal((await complete(older.token)).status, 400);
    assert.equal((await complete(newer!.token)).status, 201);
  });

  it('cannot reset a password, and a password reset token cannot complete a sign-up', async () => {
    const signUp = await app.mailFor('sign-up', ALICE);
    assert.equal((await reset(signUp.token)).status, 400);
    await complete(signUp.token);
    const { token } = await app.mailFor('password-reset', ALICE);
    assert.equal((await complete(token)).status, 400);
  });

  it('cannot be found in a copy of the database', async () => {
    const { token } = await app.mailFor('sign-up', ALICE);
    assert.equal((await app.copyOfDatabase()).includes(token), false);
    assert.match(await app.copyOfDatabase(), /alice/);
  });
});

describe('a password reset', () => {
  it('ends the sessions, accepts its link once, and notifies the user', async () => {
    await app.signUp(ALICE);
    const session = await app.logIn(ALICE);
    const { token, to } = await app.mailFor('password-reset', 'ALICE@EXAMPLE.COM');
    assert.deepEqual(to, [ALICE]);
    assert.equal((await reset(token)).status, 204);
    assert.equal((await reset(token)).status, 400);
    assert.equal((await refresh(session)).status, 400);
    assert.equal((await app.logIn(ALICE)).status, 400);
    assert.equal((await app.logIn(ALICE, NEW_PASSWORD)).status, 200);
    const [notice] = await app.receive();
    assert.deepEqual([notice?.to, notice?.subject], [[ALICE], 'Your password was changed']);
  });

  it('accepts only the newest link, for an hour', async () => {
    await app.signUp(ALICE);
    const older = await app.mailFor('password-reset', ALICE);
    app.advance(11 * MINUTE);
    const newer = await app.mailFor('password-reset', ALICE);
    assert.equal((await reset(older.token)).status, 400);
    app.advance(60 * MINUTE);
    assert.equal((await reset(newer.token)).status, 400);
  });
});

it('every password change notifies the user', async () => {
  await app.signUp(ALICE);
  const change = async (current_password: string, new_password: string): Promise<number> => {
    const { access_token } = JSON.parse((await app.logIn(ALICE, current_password)).body) as { access_token: string };
    const headers = { authorization: `Bearer ${access_token}` };
    return (await app.post('/auth/password/change/', { current_password, new_password }, headers)).status;
  };
  assert.deepEqual([await change(PASSWORD, NEW_PASSWORD), await change(NEW_PASSWORD, PASSWORD)], [200, 200]);
  const subjects = (await app.receive()).map(({ subject }) => subject);
  assert.deepEqual(subjects, ['Your password was changed', 'Your password was changed']);
});

describe('an email', () => {
  it('is sent a second after the request', async () => {
    await app.post('/sign-up', { email: ALICE });
    mock.timers.tick(1000);
    for (let n = 0; n < 500 && app.smtp.received.length === 0; n += 1) await new Promise((go) => setTimeout(go, 10));
    assert.deepEqual(app.smtp.received[0]?.to, [ALICE]);
  });

  it('is sent again with a new token a minute after the SMTP server has refused it', async () => {
    app.smtp.isDown = true;
    assert.equal((await app.post('/sign-up', { email: ALICE })).status, 202);
    assert.deepEqual(await app.receive(), []);
    app.smtp.isDown = false;
    assert.deepEqual(await app.receive(), []);
    app.advance(MINUTE);
    const [mail] = await app.receive();
    assert.equal((await complete(mail!.token)).status, 201);
  });

  it('is tried again after 1, 2, 4 and 8 minutes while the SMTP server refuses it', async () => {
    app.smtp.refusal = 450;
    await app.post('/sign-up', { email: ALICE });
    await app.receive();
    for (const minutes of [1, 2, 4, 8]) {
      const { connections } = app.smtp;
      app.advance(minutes * MINUTE - 1);
      await app.receive();
      assert.equal(app.smtp.connections, connections);
      app.advance(1);
      await app.receive();
      assert.equal(app.smtp.connections, connections + 1);
    }
    app.smtp.refusal = null;
    app.advance(16 * MINUTE);
    assert.equal((await app.receive()).length, 1);
  });

  it('is not tried again after the SMTP server has refused its recipient permanently, until the next request', async () => {
    app.smtp.refusal = 550;
    await app.post('/sign-up', { email: ALICE });
    await app.receive();
    app.smtp.refusal = null;
    app.advance(23 * 60 * MINUTE);
    assert.deepEqual(await app.receive(), []);
    assert.equal((await app.mailFor('sign-up', ALICE)).subject, 'Choose a password');
  });

  it('is sent before 1,600 emails that the SMTP server has refused', async () => {
    const refused = Array.from({ length: 1600 }, (_, n): Mail => {
      const [id, email, requestedAt] = [`!${n}`, `refused${n}@example.com`, new Date()];
      return { id, kind: 'sign-up', email, requestedAt, dueAt: requestedAt, attempts: 1, tokenDigest: null };
    });
    await app.nest.get(DataSource).getRepository(Mail).save(refused, { chunk: 100 });
    app.advance(1);
    assert.equal((await app.post('/password-reset', { email: ALICE })).status, 202);
    const [first] = await app.receive();
    assert.deepEqual(first?.to, [ALICE]);
  });

  it('is sent once, even if several instances send due emails at the same time', async () => {
    await app.post('/sign-up', { email: ALICE });
    const both = await Promise.all([app.receive(), app.receive()]);
    assert.equal(both.flat().length, 1);
  });
});
