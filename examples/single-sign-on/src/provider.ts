import type { Request, Response } from 'express';
import { createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';
import * as oidc from 'openid-client';

const { ORIGIN = 'http://localhost:3000', OIDC_ISSUER = '', OIDC_CLIENT_ID = '', OIDC_CLIENT_SECRET } = process.env;
export const IS_SECURE = ORIGIN.startsWith('https:'); // false in development only, where the provider has no TLS either
const COOKIE = IS_SECURE ? '__Host-sso' : 'sso';
const COOKIE_OPTIONS = { httpOnly: true, secure: IS_SECURE, sameSite: 'lax', maxAge: 600_000 } as const;
const MAX_AGE = { login: 12 * 60 * 60, link: 60 }; // the maximum age of a login at the provider, in seconds
const execute = [oidc.enableNonRepudiationChecks, ...(IS_SECURE ? [] : [oidc.allowInsecureRequests])];
const config = await oidc.discovery(new URL(OIDC_ISSUER), OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, undefined, { execute });
const { issuer, jwks_uri } = config.serverMetadata();
const keys = createRemoteJWKSet(new URL(jwks_uri!));
export const logoutUrl = oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: `${ORIGIN}/` }).href;

/** Stores the flow in a cookie, and returns the URL of the provider. To link an account, pass the session's id. */
export async function begin(response: Response, session = ''): Promise<{ url: string }> {
  const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const flow = Buffer.from(JSON.stringify({ session, state, nonce, verifier })).toString('base64url');
  response.cookie(COOKIE, flow, COOKIE_OPTIONS);
  const code_challenge = await oidc.calculatePKCECodeChallenge(verifier);
  const checks = { state, nonce, code_challenge, code_challenge_method: 'S256' };
  const max_age = session ? '0' : String(MAX_AGE.login);
  const parameters = { scope: 'openid', redirect_uri: `${ORIGIN}/sso/callback`, max_age, ...checks };
  return { url: oidc.buildAuthorizationUrl(config, parameters).href };
}

/** Exchanges the code for an ID token and verifies it. Fails unless this browser has the cookie of the flow. */
export async function finish(request: Request): Promise<{ session: string; claims: oidc.IDToken }> {
  const [, cookie = ''] = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '') ?? [];
  const flow = JSON.parse(Buffer.from(cookie, 'base64url').toString()) as Record<string, string>;
  const { session = '', state = '', nonce = '', verifier = '' } = flow;
  const url = new URL(request.url, ORIGIN);
  // The callback of another flow does not end the flow that this browser began.
  if (url.searchParams.get('state') !== state) throw new Error('The callback belongs to another flow.');
  request.res!.clearCookie(COOKIE, COOKIE_OPTIONS);
  const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
  const maxAge = session ? MAX_AGE.link : MAX_AGE.login;
  const tokens = await oidc.authorizationCodeGrant(config, url, { ...checks, maxAge });
  return { session, claims: tokens.claims()! };
}

/** Verifies a logout token. (OpenID Connect Back-Channel Logout 1.0, section 2.6) */
export async function verifyLogoutToken(token: string): Promise<Required<JWTPayload>> {
  const expected = { issuer, audience: OIDC_CLIENT_ID, algorithms: ['RS256'], maxTokenAge: 600, clockTolerance: 30 };
  const requiredClaims = ['sub', 'jti', 'iat', 'exp', 'events'];
  const { payload } = await jwtVerify<{ events: object }>(token, keys, { ...expected, requiredClaims });
  const isLogout = 'http://schemas.openid.net/event/backchannel-logout' in payload.events;
  if (!isLogout || 'nonce' in payload) throw new Error('The token is not a logout token.');
  return payload as Required<JWTPayload>;
}
