import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { AuthService, AuthUser } from 'nestjs-session-auth';
import { Provider } from 'oidc-provider';
import { EntityManager } from 'typeorm';

/** A local provider for development and tests. It logs in anybody under the name that they enter. */
export interface DevelopmentProvider {
  readonly issuer: string;
  /** The key with which the provider signs tokens. */
  readonly key: JWK;
  readonly provider: Provider;
  close(): void;
}

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly origin: string;
}

const FORM = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Provider</title><h1>Provider for development</h1>
  <form method="post"><label>Name <input name="name" value="alice" required></label>
  <label>Methods <input name="amr" value="pwd"></label> <button>Continue</button></form></html>`;

export async function startProvider(client: Client, port: number): Promise<DevelopmentProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'development', alg: 'RS256', use: 'sig' };
  const server = createServer();
  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(at, '127.0.0.1', resolve);
    });
  await listen(port).catch(() => listen(0)); // uses a free port if this one is in use
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [`${client.origin}/sso/callback`],
        post_logout_redirect_uris: [`${client.origin}/`],
        backchannel_logout_uri: `${client.origin}/sso/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['a key for development only'] },
    claims: { openid: ['sub', 'amr'], auth_time: null, acr: null, sid: null, iss: null },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    // The provider's default `fetch` refuses loopback addresses, where the application listens.
    fetch: (url, { method, headers, body }: RequestInit = {}) => fetch(url, { method, headers, body } as RequestInit),
    // Grants consent without asking the user.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void provider.callback()(request, response);
    if (request.method !== 'POST') return void response.setHeader('Content-Type', 'text/html').end(FORM);
    let body = '';
    request.on('data', (data) => (body += String(data)));
    request.on('end', () => {
      const form = new URLSearchParams(body);
      const login = { accountId: form.get('name') ?? '', amr: (form.get('amr') ?? '').split(' ').filter(Boolean) };
      provider.interactionFinished(request, response, { login }).catch(() => response.writeHead(400).end());
    });
  });
  return { issuer, key, provider, close: () => void server.close().closeAllConnections() };
}

/** Creates a user who can link an account of the provider, with a new password at each start. */
export async function createAlice(app: INestApplication): Promise<void> {
  const [auth, users] = [app.get(AuthService), app.get(EntityManager)];
  const alice = { username: 'alice', password: randomBytes(12).toString('base64url') };
  const stored = await users.findOneBy(AuthUser, { username: alice.username });
  if (stored) await auth.resetPassword(stored.id, alice.password);
  else await auth.createUser(alice);
  console.log(`Sign in with the provider, or as ${alice.username} with the password: ${alice.password}`);
}
