import { type CanActivate, type ExecutionContext, ForbiddenException, type ModuleMetadata } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthController, type AuthRequest, BearerAuthGuard, CurrentSession, CurrentUser } from 'nestjs-session-auth';
import { isPublicRoute, PasswordController, SessionsController } from 'nestjs-session-auth';
import { guardFor } from 'nestjs-session-auth/testing';
import { controllerOf, returning } from '../../support/handlers';
import { applicationStarter } from '../../support/start-for-test';
import { CREDENTIALS, type PlatformName } from '../../support/test-application';

/** Requires an API key for all routes except public routes and those of the library. */
class ApiKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const own: unknown[] = [AuthController, SessionsController, PasswordController];
    if (isPublicRoute(context) || own.includes(context.getClass())) return true;
    return context.switchToHttp().getRequest<AuthRequest>().headers['x-api-key'] === 'the key';
  }
}

/** Also refuses the session routes of the library. */
class StrictGuard extends ApiKeyGuard {
  override canActivate(context: ExecutionContext): boolean {
    if (context.getClass() === SessionsController) throw new ForbiddenException('the strict guard');
    return super.canActivate(context);
  }
}

/** Sets `request.auth`, as JWT middleware does. */
class ForeignGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getRequest<{ auth: unknown }>().auth = { sub: 'alice', userId: 'alice', session: {} };
    return true;
  }
}

const Plain = controllerOf('plain', [], { own: [returning(CurrentUser(), CurrentSession())] });

const guards = (...classes: (new () => CanActivate)[]): ModuleMetadata['providers'] =>
  classes.map((useClass) => ({ provide: APP_GUARD, useClass }));

describe.each<PlatformName>(['express', 'fastify'])('global guards on %s', (platform) => {
  const start = applicationStarter({ platform, controllers: [Plain] });

  it("the library's and the application's global guard run together, each can refuse a request, and the application's recognizes the library's routes", async () => {
    const app = await start({ auth: { globalGuard: true }, providers: guards(ApiKeyGuard) });
    const { access_token: token } = await app.refreshed(await app.login());
    await app.http.get('/me').set('X-Api-Key', 'the key').expect(401);
    await app.get('/me', token).expect(403);
    const authenticate = jest.spyOn(app.authentication, 'authenticate');
    await app.get('/me', token).set('X-Api-Key', 'the key').expect(200);
    // The global guard and the guard of the route share a lookup.
    expect(authenticate).toHaveBeenCalledTimes(1);
    await app.http.get('/open').expect(200, { open: true });
    await app.get('/auth/sessions', token).expect(200);
  });

  it("a refusal of the application's guard on the library's routes has the library's format", async () => {
    const app = await start({ providers: guards(StrictGuard) });
    const { access_token: token } = await app.login();
    await app.get('/auth/sessions', token).expect(403, { detail: 'the strict guard' });
  });

  it('a value that other code stores in `request.auth` authenticates nobody', async () => {
    const app = await start({ providers: guards(ForeignGuard) });
    await app.http.get('/me').expect(401);
    await app.http.get('/auth/sessions').expect(401);
    const { access_token: token, session_id: id } = await app.login();
    expect((await app.get('/me', token).expect(200)).body).toMatchObject({ username: 'alice', session_id: id });
  });

  it('a test can override the global guard', async () => {
    const startWith = (guard: CanActivate) =>
      start({ auth: { globalGuard: true }, override: (it) => it.overrideProvider(BearerAuthGuard).useValue(guard) });
    const closed = await startWith({ canActivate: () => false });
    await closed.http.post('/auth/login').send(CREDENTIALS).expect(403);
    const user = { id: 'of the test', username: 'alice' };
    const { body } = await (await startWith(guardFor(user))).http.get('/plain/own').expect(200);
    expect(body).toMatchObject([user, { isCurrent: true }]);
  });
});
