import type { AuthRequest, AuthUser } from 'nestjs-session-auth';
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Authenticator } from './authenticator.js';
import { Client } from './client.js';
import { assertRefused, auth, bob, database, enrolled, MINUTE_MS } from './fixture.js';
import { origin, Passkey, passkeys, password, signedIn, ticketOf } from './fixture.js';

describe('a login with a password', () => {
  it('is refused with the passkey of another user', async () => {
    await enrolled();
    const { passkey } = await enrolled('bob');
    const client = new Client(origin);
    const ticket = await ticketOf(client);
    const outcome = await client.respond('/passkeys/second-factor', passkey, {}, { ticket });
    await assertRefused(client, outcome);
  });

  it('opens only one session with its ticket', async () => {
    const { passkey } = await enrolled();
    const [client, thief] = [new Client(origin), new Client(origin)];
    const ticket = await ticketOf(client);
    assert.equal((await client.respond('/passkeys/second-factor', passkey, {}, { ticket })).status, 201);
    await assertRefused(thief, await thief.respond('/passkeys/second-factor', passkey, {}, { ticket }));
  });

  it('opens no session with the ticket alone', async () => {
    await enrolled();
    const client = new Client(origin);
    const ticket = await ticketOf(client);
    await client.challenge();
    await assertRefused(client, await client.post('/passkeys/second-factor', { ticket }));
    await assertRefused(client, await client.post('/passkeys/login', { ticket }));
    await assert.rejects(auth.openSession({ ticket }), { code: 'second_factor_required' });
  });
});

describe('an attacker', () => {
  it("cannot sign a victim's browser in to the attacker's own account", async () => {
    const { passkey } = await enrolled('bob');
    const [attacker, victim] = [new Client(origin), new Client(origin)];
    const response = passkey.get(await attacker.challenge());
    await assertRefused(victim, await victim.post('/passkeys/login', response));
    // A cross-site request is refused even with a challenge of the victim's browser.
    const own = passkey.get(await victim.challenge());
    const outcome = await victim.post('/passkeys/login', own, 'https://example.com');
    assert.equal(outcome.code, 'cross_site_request');
    await assertRefused(victim, outcome, 403);
  });

  it('cannot replace the challenge of a browser with a cross-site request', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const challenge = await client.challenge();
    const { status, code } = await client.post('/passkeys/options', {}, 'https://example.com');
    assert.deepEqual([status, code], [403, 'cross_site_request']);
    assert.equal((await client.post('/passkeys/login', passkey.get(challenge))).status, 201);
  });

  it('cannot consume the challenge of a browser with a form on another host of the site', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const challenge = await client.challenge();
    for (const path of ['login', 'second-factor', 'confirmation', 'registration']) {
      const { status } = await client.post(`/passkeys/${path}`, {}, 'https://other.localhost');
      assert.ok([401, 403].includes(status), `${path}: ${status}`);
    }
    assert.equal((await client.post('/passkeys/login', passkey.get(challenge))).status, 201);
  });

  it('cannot complete the login of another browser with their own ticket', async () => {
    const { passkey } = await enrolled();
    await enrolled('bob');
    const victim = new Client(origin);
    const ticket = await ticketOf(new Client(origin), 'bob');
    await assertRefused(victim, await victim.respond('/passkeys/second-factor', passkey, {}, { ticket }));
  });

  it('cannot confirm a stolen session with their own passkey', async () => {
    const { client } = await enrolled();
    const { passkey } = await enrolled('bob');
    assert.equal((await client.respond('/passkeys/confirmation', passkey)).status, 400);
    assert.equal((await client.post('/passkeys/payout')).code, 'recent_login_required');
  });

  it('cannot register a passkey with a stolen session five minutes after the login', async () => {
    const client = await signedIn();
    const challenge = await client.challenge('/passkeys/registration/options');
    mock.timers.tick(5 * MINUTE_MS);
    assert.equal((await client.post('/passkeys/registration/options')).code, 'recent_login_required');
    await client.challenge();
    const response = new Authenticator(origin).create(challenge);
    assert.equal((await client.post('/passkeys/registration', response)).code, 'recent_login_required');
  });

  it('cannot add a passkey with the password if the user has a passkey already', async () => {
    const { client, passkey } = await enrolled();
    const change = { current_password: password, new_password: `${password}, changed` };
    const undo = { current_password: change.new_password, new_password: password };
    assert.equal((await client.post('/auth/password/change', change)).status, 200);
    assert.equal((await client.post('/auth/password/change', undo)).status, 200);
    assert.equal((await client.register(new Authenticator(origin))).code, 'recent_login_required');
    assert.equal((await client.respond('/passkeys/confirmation', passkey)).status, 201);
    assert.equal((await client.register(new Authenticator(origin))).status, 201);
  });

  it('cannot register the passkey of another user', async () => {
    const { passkey } = await enrolled();
    const attacker = await signedIn('bob');
    const copy = new Authenticator(origin, passkey.credentialId);
    assert.equal((await attacker.register(copy)).status, 400);
    assert.equal(await database.countBy(Passkey, { userId: String(bob.id) }), 0);
    const client = new Client(origin);
    assert.equal((await client.respond('/passkeys/login', passkey)).status, 201);
  });

  it('cannot register a passkey without user verification, or for another origin or RP ID', async () => {
    const client = await signedIn();
    const deviations = [{ isVerified: false }, { origin: 'https://example.com' }, { rpId: 'example.com' }];
    for (const deviation of deviations) {
      assert.equal((await client.register(new Authenticator(origin), deviation)).status, 400);
    }
    assert.equal(await database.count(Passkey), 0);
  });

  it('cannot register a passkey with an attestation that has certificates, which could take minutes to verify', async () => {
    const client = await signedIn();
    for (const format of ['apple', 'tpm', 'android-key', 'android-safetynet', 'fido-u2f', 'x']) {
      const challenge = await client.challenge('/passkeys/registration/options');
      const body = new Authenticator(origin).create(challenge, { format });
      const request = { body, headers: { cookie: `passkey=${client.cookies.get('passkey')}` } };
      const registration = passkeys.register({ id: bob.id } as AuthUser, request as unknown as AuthRequest, true);
      await assert.rejects(registration, ({ cause }: Error) => String(cause).includes('The format of the attestation'));
    }
  });

  it('cannot send a large body, which would take seconds to decode', async () => {
    const client = await signedIn();
    const authenticatorData = 'A'.repeat(16_384);
    for (const path of ['login', 'second-factor', 'confirmation', 'registration']) {
      const body = { id: 'x', response: { authenticatorData } };
      assert.equal((await client.post(`/passkeys/${path}`, body)).status, 413);
    }
  });

  it('loses a session opened with the password when the user registers the first passkey', async () => {
    const thief = await signedIn();
    const { client } = await enrolled();
    assert.deepEqual([await thief.isSignedIn(), await client.isSignedIn()], [false, true]);
  });

  it('loses a session that the password opens while the first passkey is being stored', async () => {
    const thief = new Client(origin);
    const insert = database.insert.bind(database);
    const held = mock.method(database, 'insert', async (...given: Parameters<typeof insert>) => {
      if (given[0] === Passkey) await thief.post('/auth/login', { username: 'alice', password });
      return insert(...given);
    });
    await enrolled();
    held.mock.restore();
    assert.deepEqual([thief.cookies.has('auth_access'), await thief.isSignedIn()], [true, false]);
  });

  it('cannot register a passkey at the same time as the user registers the first passkey', async () => {
    const clients = [await signedIn(), await signedIn()];
    const insert = database.insert.bind(database);
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    const held = mock.method(database, 'insert', async (...given: Parameters<typeof insert>) => {
      if (given[0] === Passkey) {
        waiting += 1;
        if (waiting === clients.length) both.resolve();
        await both.promise;
      }
      return insert(...given);
    });
    const outcomes = await Promise.all(clients.map((client) => client.register(new Authenticator(origin))));
    held.mock.restore();
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), [201, 400]);
    assert.equal(await database.count(Passkey), 1);
    for (const [index, client] of clients.entries()) {
      assert.equal(await client.isSignedIn(), outcomes[index]!.status === 201);
    }
  });
});

it('the page is not shown in frames of other sites, and submits no form without its script', async () => {
  const { headers } = await fetch(origin);
  assert.match(headers.get('content-security-policy') ?? '', /form-action 'none'; frame-ancestors 'none'/);
});

it('a disabled user gets no session', async () => {
  const { passkey } = await enrolled('bob');
  const client = new Client(origin);
  const ticket = await ticketOf(client, 'bob');
  await auth.disableUser(bob.id);
  await assertRefused(client, await client.respond('/passkeys/login', passkey), 404);
  await assertRefused(client, await client.respond('/passkeys/second-factor', passkey, {}, { ticket }));
  await auth.enableUser(bob.id);
});
