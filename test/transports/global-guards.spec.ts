import {
  Controller,
  ForbiddenException,
  Get,
  Injectable,
  type CanActivate,
  type ExecutionContext,
  type ModuleMetadata,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  AuthController,
  BearerAuthGuard,
  CurrentUser,
  isPublicRoute,
  PasswordController,
  SessionsController,
  type AuthModuleExtras,
  type AuthRequest,
} from 'nestjs-session-auth';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host, PASSWORD, type HostOptions, type PlatformName } from '../support/host';

/** A global guard of a host: an API key for all routes, but for those that are public and the library's own. */
@Injectable()
class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const own: unknown[] = [AuthController, SessionsController, PasswordController];
    if (isPublicRoute(context) || own.includes(context.getClass())) return true;
    return context.switchToHttp().getRequest<AuthRequest>().headers['x-api-key'] === 'the key';
  }
}

/** One that lets public routes pass alone, as hosts had it before. */
@Injectable()
class StrictGuard extends ApiKeyGuard {
  override canActivate(context: ExecutionContext): boolean {
    if (context.getClass() === SessionsController) throw new ForbiddenException('the strict guard');
    return super.canActivate(context);
  }
}

/** It has no guard of its own. */
@Controller('plain')
class PlainController {
  @Get()
  plain(@CurrentUser() user: object): object {
    return user;
  }
}

const guards = (...classes: (new () => CanActivate)[]): ModuleMetadata['providers'] =>
  classes.map((useClass) => ({ provide: APP_GUARD, useClass }));

describe.each<PlatformName>(['express', 'fastify'])('global guards on %s', (platform) => {
  let database: TestDatabase;
  let host: Host;

  const start = async (
    auth: AuthModuleExtras,
    providers: ModuleMetadata['providers'] = [],
    override?: HostOptions['override'],
  ): Promise<void> => {
    database = await createDatabase('sqlite');
    host = await Host.start({
      database,
      platform,
      auth,
      providers,
      controllers: [PlainController],
      ...(override ? { override } : {}),
    });
  };
  afterEach(async () => {
    await host.close();
    await database.drop();
  });

  it("the host's own lets the library's public routes pass by their mark, and knows its others by their class", async () => {
    await start({}, guards(ApiKeyGuard));
    const login = await host.login();
    await host.refresh(login.refresh_token).expect(200);
    await host.get('/auth/sessions', (await host.login()).access_token).expect(200);
    await host.http.get('/auth/sessions').expect(401);
    await host.get('/me', (await host.login()).access_token).expect(403);
    await host
      .get('/me', (await host.login()).access_token)
      .set('X-Api-Key', 'the key')
      .expect(200);
    await host.http.get('/open').expect(200);
  });

  it("the library's stands beside the host's: both must agree", async () => {
    await start({ globalGuard: true }, guards(ApiKeyGuard));
    const { access_token: token } = await host.login();
    await host.http.get('/me').set('X-Api-Key', 'the key').expect(401);
    await host.get('/me', token).expect(403);
    await host.get('/me', token).set('X-Api-Key', 'the key').expect(200);
    await host.http.get('/open').expect(200, { open: true });
    await host.get('/auth/sessions', token).expect(200);
  });

  it("what the host's refuses on the library's routes has the library's shape", async () => {
    await start({}, guards(StrictGuard));
    const { access_token: token } = await host.login();
    await host.get('/auth/sessions', token).expect(403, { detail: 'the strict guard' });
  });

  it('the library asks the database once for a request, though its guard stands before it twice', async () => {
    await start({ globalGuard: true });
    const authenticate = jest.spyOn(host.auth, 'authenticate');
    await host.get('/me', (await host.login()).access_token).expect(200);
    expect(authenticate).toHaveBeenCalledTimes(1);
  });

  it('what other code stores in `request.auth` authenticates nobody', async () => {
    /** As parsers of JWTs do. */
    @Injectable()
    class ForeignGuard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        context.switchToHttp().getRequest<{ auth: unknown }>().auth = { sub: 'alice', userId: 'alice', session: {} };
        return true;
      }
    }
    await start({}, guards(ForeignGuard));
    await host.http.get('/me').expect(401);
    await host.http.get('/auth/sessions').expect(401);
    const { access_token: token, session_id: id } = await host.login();
    expect((await host.get('/me', token).expect(200)).body).toMatchObject({ username: 'alice', session_id: id });
  });

  it.each([true, false])('the guard can be overridden in a test (global: %s)', async (globalGuard) => {
    const nobody: CanActivate = { canActivate: () => false };
    await start({ globalGuard }, [], (module) => module.overrideProvider(BearerAuthGuard).useValue(nobody));
    expect((await host.http.post('/auth/login').send({ username: 'alice', password: PASSWORD })).status).toBe(
      globalGuard ? 403 : 200,
    );
    await host.close();
    await database.drop();
    const user = { id: 'of the test', username: 'alice' };
    const everybody: CanActivate = {
      canActivate: (context) => {
        const request = context.switchToHttp().getRequest<AuthRequest>();
        request.auth = {
          userId: user.id,
          session: { id: 'of the test' } as never,
          authenticatedAt: new Date(),
          methods: {},
          data: {},
        };
        request.loadUser = () => Promise.resolve(user);
        return true;
      },
    };
    await start({ globalGuard }, [], (module) =>
      (globalGuard ? module.overrideProvider(BearerAuthGuard) : module.overrideGuard(BearerAuthGuard)).useValue(
        everybody,
      ),
    );
    if (globalGuard) await host.http.get('/plain').expect(200, user);
    else await host.http.get('/me').expect(200, { ...user, session_id: 'of the test' });
  });
});
