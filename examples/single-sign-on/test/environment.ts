import type { Server } from 'node:http';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { decodeJwt, importJWK, SignJWT, type JWTPayload } from 'jose';
import { AuthService, BcryptPasswordHasher, PasswordHasher, SecondFactor } from 'nestjs-session-auth';
import { Clock, DrivenClock } from 'nestjs-session-auth/testing';
import { startProvider } from '../dev/provider.js';
import { Browser } from './browser.js';
import { freePort } from './free-port.js';

const CLIENT = { clientId: 'example', clientSecret: 'a secret for tests only' };
const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout';
const ORIGIN = `http://localhost:${await freePort()}`;

// One provider serves all tests of a file, because the application reads the metadata of the provider only once.
const development = await startProvider({ ...CLIENT, origin: ORIGIN }, 0);
process.env['DB'] = ':memory:';
process.env['ORIGIN'] = ORIGIN;
process.env['OIDC_ISSUER'] = development.issuer;
process.env['OIDC_CLIENT_ID'] = CLIENT.clientId;
process.env['OIDC_CLIENT_SECRET'] = CLIENT.clientSecret;
const { AppModule } = await import('../src/app.module.js');

let issue: (claims: JWTPayload) => Promise<string>;
development.provider.use(async (context, next) => {
  await next();
  const body = context['body'] as { id_token?: string } | undefined;
  if (context['path'] === '/token' && body?.id_token) {
    body.id_token = await issue(decodeJwt(body.id_token));
  }
});

/** Changes the claims of an ID token before it is issued. */
export type Forge = (claims: JWTPayload) => JWTPayload;

/** The application and a provider, with methods that simulate an attacker or a faulty provider. */
export class Environment {
  readonly clock = new DrivenClock(new Date().getTime());
  /** The ids of the users who need a second factor. */
  readonly enrolled = new Set<string>();
  forge: Forge = (claims) => claims;
  app!: NestExpressApplication;
  readonly origin = ORIGIN;
  readonly issuer = development.issuer;

  async start(): Promise<void> {
    issue = (claims) => this.sign(this.forge(claims));
    const testingModule = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(Clock)
      .useValue(this.clock)
      .overrideProvider(PasswordHasher)
      .useValue(new BcryptPasswordHasher(4))
      .overrideProvider(SecondFactor)
      .useValue({ isRequired: ({ id }: { id: unknown }) => this.enrolled.has(String(id)) })
      .compile();
    this.app = testingModule.createNestApplication<NestExpressApplication>();
    // All applications of a file use one port, so no client may keep a connection to the previous application.
    (this.app.getHttpServer() as Server).maxRequestsPerSocket = 1;
    await this.app.listen(new URL(ORIGIN).port, '127.0.0.1');
  }

  stop(): Promise<void> {
    return this.app.close();
  }

  get auth(): AuthService {
    return this.app.get(AuthService);
  }

  browser(): Browser {
    return new Browser(ORIGIN);
  }

  /** Signs claims with the key of the provider. */
  async sign(claims: JWTPayload, header = {}): Promise<string> {
    const { key } = development;
    const signer = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid!, ...header });
    return signer.sign(await importJWK(key));
  }

  /** Returns the claims of a valid logout token. */
  logoutClaims(sub: string): JWTPayload {
    const iat = Math.floor(new Date().getTime() / 1000);
    const jti = crypto.randomUUID();
    return {
      iss: development.issuer,
      aud: CLIENT.clientId,
      sub,
      iat,
      exp: iat + 120,
      jti,
      events: { [LOGOUT]: {} },
    };
  }

  /** Sends a logout token as the provider does, and returns the status of the response. */
  async sendLogout(token: string): Promise<number> {
    const body = new URLSearchParams({ logout_token: token });
    return (await fetch(`${ORIGIN}/sso/backchannel-logout`, { method: 'POST', body })).status;
  }
}
