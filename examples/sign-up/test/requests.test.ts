import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { AuthService } from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { Application, MINUTE, PASSWORD, type Answer } from './application.js';
import { User } from '../src/entities.js';

const ALICE = 'alice@example.com';
const KINDS = ['sign-up', 'password-reset'] as const;

let app: Application;
beforeEach(async () => void (app = await Application.start()));
afterEach(() => app.close());
after(() => Application.closeSmtp());

/** Returns four addresses: with an account, with a disabled account, with an unused link, and unknown. */
async function states(): Promise<string[]> {
  await app.signUp('known@example.com');
  await app.signUp('disabled@example.com');
  const disabled = await app.nest
    .get(DataSource)
    .getRepository(User)
    .findOneByOrFail({ email: 'disabled@example.com' });
  await app.nest.get(AuthService).disableUser(disabled.id);
  await app.mailFor('sign-up', 'unconfirmed@example.com');
  app.advance(11 * MINUTE);
  return ['known', 'disabled', 'unconfirmed', 'unknown'].map((name) => `${name}@example.com`);
}

describe('a request for a link', () => {
  for (const kind of KINDS) {
    it(`executes the same statements, sends no email and has the same response for any address (${kind})`, async () => {
      const observed = [];
      for (const email of await states()) {
        const { connections } = app.smtp;
        let answer: Answer | undefined;
        const statements = await app.statementsOf(
          async () => (answer = await app.post(`/${kind}`, { email }, { 'x-forwarded-for': '192.0.2.9' })),
        );
        const { date, 'x-ratelimit-remaining': remaining, ...headers } = answer!.headers;
        observed.push({ ...answer, headers, statements, connections: app.smtp.connections - connections });
        assert.ok(date && remaining);
      }
      assert.equal(observed[0]!.status, 202);
      assert.ok(observed[0]!.statements.length > 1);
      for (const other of observed) assert.deepEqual(other, { ...observed[0], connections: 0 });
    });
  }

  it('reveals only to the owner of the mailbox whether an account exists', async () => {
    const subjects: Record<string, string[]> = {};
    for (const email of await states()) {
      const mails = [await app.mailFor('sign-up', email), await app.mailFor('password-reset', email)];
      subjects[email.split('@')[0]!] = mails.map(({ subject, token }) => `${subject}${token && ' #'}`);
      assert.deepEqual(
        mails.map(({ to }) => to),
        [[email], [email]],
      );
    }
    const disabled = 'Your account is disabled';
    assert.deepEqual(subjects, {
      known: ['You already have an account', 'Choose a password #'],
      disabled: [disabled, disabled],
      unconfirmed: ['Choose a password #', 'You have no account'],
      unknown: ['Choose a password #', 'You have no account'],
    });
  });

  it('sends at most one email of each kind in ten minutes to an address, regardless of its spelling', async () => {
    for (const email of [ALICE, 'ALICE@example.com', 'Alice@Example.com']) await app.post('/sign-up', { email });
    assert.equal((await app.receive()).length, 1);
    await app.post('/sign-up', { email: ALICE });
    assert.deepEqual(await app.receive(), []);
  });

  it('refuses another spelling of a character, so that it does not prevent an email to the usual spelling', async () => {
    const spellings = ['ａlice@example.com', 'ªlice@example.com', 'alice@ｅxample.com', 'ze\u0301@example.com'];
    for (const kind of KINDS) {
      for (const email of spellings) assert.equal((await app.post(`/${kind}`, { email })).status, 400);
      assert.deepEqual((await app.mailFor(kind, ALICE)).to, [ALICE]);
      assert.deepEqual((await app.mailFor(kind, 'zé@example.com')).to, ['zé@example.com']);
    }
  });

  it('refuses a domain in Unicode, because its folded name can be a domain of somebody else', async () => {
    // `straẞe.example` is `strasse.example` in ASCII, and `straße.example` in lower case.
    const { status } = await app.post('/sign-up', { email: 'alice@straẞe.example' });
    assert.deepEqual([status, await app.receive()], [400, []]);
    const { to } = await app.mailFor('sign-up', 'alice@xn--strae-oqa.example');
    assert.deepEqual(to, ['alice@straße.example']);
  });

  it('refuses a long address before it is normalized, which would take seconds', async () => {
    const email = `a${'\u0301\u0316'.repeat(20_000)}@example.com`;
    const began = performance.now();
    for (const kind of KINDS) assert.equal((await app.post(`/${kind}`, { email })).status, 400);
    assert.ok(performance.now() - began < 1000);
  });

  it('sends links to the configured site, and ignores Host headers', async () => {
    const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' };
    await app.post('/sign-up', { email: ALICE }, headers);
    const { source = '' } = (await app.receive())[0] ?? {};
    assert.match(source, /https:\/\/shop\.example\/#sign-up=/);
    assert.doesNotMatch(source, /evil/);
  });

  it('refuses an address with line breaks, further addresses or invisible characters', async () => {
    const local = [
      '"a\r\nBcc: bob@example.com\r\n"',
      'a\r\nBcc: bob',
      '"a b"',
      'bob@example.com,a',
      'a\u200b',
      'a\u034f',
      '<a',
      'a\ud800',
      '\udc00a',
    ];
    for (const email of [
      ...local.map((name) => `${name}@example.com`),
      ['a@example.com'],
      { $ne: '' },
      null,
      { toString: 1 },
    ]) {
      assert.equal((await app.post('/sign-up', { email })).status, 400);
    }
    assert.deepEqual(await app.receive(), []);
  });
});

describe('requests from one network address', () => {
  const guess = (from: string): Promise<Answer> =>
    app.post('/sign-up/complete', { token: 'guess', password: PASSWORD }, { 'x-forwarded-for': from });

  it('are limited separately for each route, without a limit on other addresses', async () => {
    const statuses = [];
    for (let n = 0; n < 21; n += 1) statuses.push((await guess('192.0.2.1')).status);
    assert.deepEqual(statuses, [...Array<number>(20).fill(400), 429]);
    assert.equal((await guess('192.0.2.2')).status, 400);
    for (let n = 0; n < 20; n += 1) await guess(`2001:db8::${n}`);
    assert.equal((await guess('2001:db8::ffff')).status, 429);
    for (const kind of KINDS) {
      const ask = (n: number): Promise<Answer> => app.post(`/${kind}`, { email: `user${n}@example.com` });
      for (let n = 0; n < 20; n += 1) assert.equal((await ask(n)).status, 202);
      assert.equal((await ask(20)).status, 429);
    }
  });

  it('are counted by the address of the connection if no proxy is trusted', async () => {
    await app.close();
    app = await Application.start({ trustProxy: false });
    for (let n = 0; n < 20; n += 1) await guess(`192.0.2.${n}`);
    assert.equal((await guess('192.0.2.200')).status, 429);
  });
});
