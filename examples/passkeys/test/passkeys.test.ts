import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Authenticator, type Deviation } from './authenticator.js';
import { Client } from './client.js';
import { assertRefused, enrolled, MINUTE_MS, origin, signedIn, ticketOf } from './fixture.js';

describe('a passkey', () => {
  it('signs a user in without a name or a password', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    assert.equal((await client.respond('/passkeys/login', passkey)).status, 201);
    assert.equal(await client.isSignedIn(), true);
    assert.equal((await client.post('/passkeys/payout')).status, 201);
  });

  it('is the second factor after a password', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const ticket = await ticketOf(client);
    assert.equal(await client.isSignedIn(), false);
    assert.equal((await client.respond('/passkeys/second-factor', passkey, {}, { ticket })).status, 201);
    assert.equal(await client.isSignedIn(), true);
    assert.equal((await client.post('/passkeys/payout')).status, 201);
  });

  it('confirms the identity of the user within a session', async () => {
    const { client, passkey } = await enrolled();
    assert.equal((await client.post('/passkeys/payout')).code, 'recent_login_required');
    assert.equal((await client.respond('/passkeys/confirmation', passkey)).status, 201);
    assert.equal((await client.post('/passkeys/payout')).status, 201);
    mock.timers.tick(6 * MINUTE_MS);
    assert.equal((await client.post('/passkeys/payout')).code, 'recent_login_required');
  });

  it('that can be synced does not count as a hardware key', async () => {
    const { passkey } = await enrolled('alice', { isSyncable: true });
    const client = new Client(origin);
    // A copy of the key may be on an authenticator that clears the flag.
    assert.equal((await client.respond('/passkeys/login', passkey, { isSyncable: false })).status, 201);
    assert.equal((await client.post('/passkeys/payout')).code, 'recent_login_required');
  });

  it('without a signature counter is accepted repeatedly', async () => {
    const { passkey } = await enrolled();
    for (const client of [new Client(origin), new Client(origin)]) {
      assert.equal((await client.respond('/passkeys/login', passkey, { counter: 0 })).status, 201);
    }
  });
});

describe('a challenge', () => {
  it('is accepted once', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const response = passkey.get(await client.challenge(), { counter: 0 });
    const { cookies } = client;
    const secret = cookies.get('passkey')!;
    assert.equal((await client.post('/passkeys/login', response)).status, 201);
    const again = new Client(origin);
    again.cookies.set('passkey', secret);
    await assertRefused(again, await again.post('/passkeys/login', response));
  });

  it('is accepted once, even if several responses arrive at the same time', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const response = passkey.get(await client.challenge(), { counter: 0 });
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => client.post('/passkeys/login', response)));
    assert.equal(outcomes.filter(({ status }) => status === 201).length, 1);
  });

  it('is consumed by an invalid response', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const challenge = await client.challenge();
    await assertRefused(client, await client.post('/passkeys/login', passkey.get('another')));
    await assertRefused(client, await client.post('/passkeys/login', passkey.get(challenge)));
  });

  it('expires after five minutes', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const response = passkey.get(await client.challenge());
    mock.timers.tick(5 * MINUTE_MS);
    await assertRefused(client, await client.post('/passkeys/login', response));
  });

  it('is valid only in the browser that it was issued to', async () => {
    const { passkey } = await enrolled();
    const response = passkey.get(await new Client(origin).challenge());
    const thief = new Client(origin);
    await assertRefused(thief, await thief.post('/passkeys/login', response));
    await thief.challenge();
    await assertRefused(thief, await thief.post('/passkeys/login', response));
  });
});

describe('a response', () => {
  const deviations: Record<string, Deviation> = {
    'made on another origin': { origin: 'https://example.com' },
    'made for another RP ID': { rpId: 'example.com' },
    'without user verification': { isVerified: false },
    'with an earlier counter': { counter: 1 },
  };
  for (const [title, deviation] of Object.entries(deviations)) {
    it(`${title} is refused`, async () => {
      const { passkey } = await enrolled();
      const client = new Client(origin);
      passkey.counter = 1;
      assert.equal((await new Client(origin).respond('/passkeys/login', passkey)).status, 201);
      await assertRefused(client, await client.respond('/passkeys/login', passkey, deviation));
      const ticket = await ticketOf(client);
      const outcome = await client.respond('/passkeys/second-factor', passkey, deviation, { ticket });
      await assertRefused(client, outcome);
    });
  }

  it('with the signature of another key is refused', async () => {
    const { passkey } = await enrolled();
    const client = new Client(origin);
    const forger = new Authenticator(origin, passkey.credentialId);
    await assertRefused(client, await client.respond('/passkeys/login', forger));
    assert.equal((await client.respond('/passkeys/login', passkey)).status, 201);
  });

  it('with the counter of another response is refused, which detects a copied key', async () => {
    const { passkey } = await enrolled();
    const clients = Array.from({ length: 5 }, () => new Client(origin));
    const responses: object[] = [];
    for (const client of clients) responses.push(passkey.get(await client.challenge(), { counter: 7 }));
    const posts = clients.map((client, index) => client.post('/passkeys/login', responses[index]));
    const outcomes = await Promise.all(posts);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), [201, 400, 400, 400, 400]);
  });

  it('with a malformed body is refused', async () => {
    const client = await signedIn();
    for (const path of ['login', 'second-factor', 'confirmation', 'registration']) {
      for (const body of [null, {}, [], { id: {} }, { id: { toString: 1 } }, { id: 'x', response: null }]) {
        await client.challenge();
        assert.equal((await client.post(`/passkeys/${path}`, body as object)).status, 400);
      }
    }
  });
});
