import { INVALID_ACCESS, NO_ACCESS, type At } from './environment';

/** The routes of the application: guarded routes stay guarded, and errors keep their shape. */
export function routeAttacks(at: At): void {
  it('a guard on a method of a public class guards the method', async () => {
    const env = at();
    const alice = 'alice@routes.example';
    await env.signUp(alice);
    const { access_token } = await env.login(alice);
    expect(await env.get('/catalog')).toEqual({ status: 200, body: { items: ['book'] } });
    expect(await env.get('/catalog/drafts')).toEqual(NO_ACCESS);
    expect(await env.get('/catalog/drafts', 'stolen')).toEqual(INVALID_ACCESS);
    expect(await env.get('/catalog/drafts', access_token)).toEqual({ status: 200, body: { drafts: alice } });
  });

  it('a class that extends a public class is guarded', async () => {
    const env = at();
    const bob = 'bob@routes.example';
    await env.signUp(bob);
    const { access_token } = await env.login(bob);
    for (const path of ['/archive', '/archive/drafts', '/bare-archive/drafts']) {
      expect(await env.get(path)).toEqual(NO_ACCESS);
    }
    // The controller has no guard of its own, so the global guard applies.
    if (env.users === 'store') expect(await env.get('/bare-archive')).toEqual(NO_ACCESS);
    expect(await env.get('/archive', access_token)).toEqual({ status: 200, body: { items: ['book'] } });
  });

  it('errors of the application and errors of the library keep their own shapes', async () => {
    const env = at();
    expect(await env.post('/errors/validation', { email: 'alice' })).toEqual({
      status: 400,
      body: { message: ['email must be an email'], error: 'Bad Request', statusCode: 400 },
    });
    const custom = { reason: 'teapot', fields: ['spout'] };
    expect(await env.get('/errors/custom')).toEqual({ status: 418, body: custom });
    const crash = { statusCode: 500, message: 'Internal server error' };
    expect(await env.get('/errors/crash')).toEqual({ status: 500, body: crash });
    expect(await env.get('/errors/library')).toEqual({ status: 404, body: { detail: 'Session not found.' } });
    const nowhere = { message: 'Cannot GET /errors/nowhere', error: 'Not Found', statusCode: 404 };
    expect(await env.get('/errors/nowhere')).toEqual({ status: 404, body: nowhere });
  });
}
