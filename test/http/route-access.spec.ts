import { type CanActivate, Module, type Type, UseGuards } from '@nestjs/common';
import { AllowApiKey, CurrentSession, CurrentUser, OptionalAuth, Public } from 'nestjs-session-auth';
import { RequireRecentLogin, RequireRoles } from 'nestjs-session-auth';
import { createDatabase } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { describeApplication, describeHttp, sendRaw } from '../support/environment';
import { controllerOf, GUARD as guard, returning } from '../support/handlers';
import { TestApplication } from '../support/test-application';

const GUARD = [guard];
const RECENT = [RequireRecentLogin({ withinSeconds: 60 })];
const ROLES = [RequireRoles('admin')];
const LONGER = [RequireRecentLogin({ withinSeconds: 600 })];
const PUBLIC = [Public()];
const OPTIONAL = [OptionalAuth()];

const Guarded = controllerOf('guarded', GUARD, { open: PUBLIC, closed: [] });
const Opened = controllerOf('public', PUBLIC, { open: [], closed: GUARD, recent: RECENT, itself: PUBLIC });
const Optional = controllerOf('optional', OPTIONAL, { own: [], open: PUBLIC, closed: GUARD, recent: RECENT });
const Unguarded = controllerOf('unguarded', PUBLIC, {
  user: [returning(CurrentUser())],
  session: [returning(CurrentSession())],
});
const controllers = [
  ...[Guarded, Opened, Optional, Unguarded],
  ...[controllerOf('derived', [], {}, Opened), controllerOf('opened', PUBLIC, {}, Guarded)],
  controllerOf('derived-optional', [], {}, Optional),
];

describeApplication('nested declarations', { controllers, auth: { globalGuard: true } }, ({ app }) => {
  it.each([
    ['@Public() on a handler of a guarded class makes the handler public', '/guarded/open', 200],
    ['a handler of a guarded class without a declaration is guarded', '/guarded/closed', 401],
    ['a handler of a public class without a declaration is public', '/public/open', 200],
    ['@UseGuards(BearerAuthGuard) on a handler of a public class guards the handler', '/public/closed', 401],
    ['@RequireRecentLogin() on a handler of a public class guards the handler', '/public/recent', 401],
    ['a subclass of a public class is guarded by the global guard', '/derived/open', 401],
    ['a handler with @Public() stays public in a subclass', '/derived/itself', 200],
    ['a subclass with @Public() of a guarded class is public', '/opened/closed', 200],
    ['@Public() on a handler of a class with @OptionalAuth() makes the handler public', '/optional/open', 200],
    ['@UseGuards(BearerAuthGuard) on a handler of a class with @OptionalAuth() guards it', '/optional/closed', 401],
    ['@RequireRecentLogin() on a handler of a class with @OptionalAuth() guards it', '/optional/recent', 401],
    ['a subclass of a class with @OptionalAuth() is guarded by the global guard', '/derived-optional/own', 401],
  ])('%s', async (_, path, status) => {
    await app.http.get(path).expect(status);
    await app.get(path, 'token').expect(status);
    await app.get(path, (await app.login()).access_token).expect(200);
  });

  it.each([
    ['@CurrentUser()', 'user'],
    ['@CurrentSession()', 'session'],
  ])('%s on a route without a guard is an error that names the route and what to add', async (name, handler) => {
    await app.http.get(`/unguarded/${handler}`).expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(app.logs.join('\n')).toContain(
      `${name} found no authenticated user in unguarded.${handler}: no guard authenticated the call, or a ` +
        'replacement of the guard did not set `request.auth`. Add @UseGuards(BearerAuthGuard)',
    );
  });
});

/** Spellings of the path of a guarded route. The platforms route some of them to its handler. */
const SPELLINGS = [
  ...['/guarded/closed', '/guarded/closed/', '/GUARDED/CLOSED', '//guarded/closed', '/./guarded/closed'],
  ...['/guarded/closed;x', '/guarded/closed?x', '/guarded/closed%2f', '\\guarded\\closed', '/guar%64e%64/close%64'],
  ...['/%67uarded/closed', '/open/../guarded/closed', '/open/..%2fguarded/closed'],
];

describe.each([true, false])('guarded routes with globalGuard: %s', (globalGuard) => {
  describeHttp('guarded routes', { controllers, auth: { globalGuard } }, ({ app }) => {
    /** Returns the requests that reached the handler. */
    const reached = async (...headers: string[]): Promise<string[]> => {
      const found: string[] = [];
      for (const target of [...SPELLINGS, ...SPELLINGS.map((path) => app.url + path)]) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'get']) {
          const { status, body } = await sendRaw(app, [`${method} ${target} HTTP/1.1`, ...headers]);
          if (status === 200 || body.includes('gold')) found.push(`${method} ${target.replace(app.url, 'http:')}`);
        }
      }
      return found;
    };

    it('no spelling of the path, method or absolute request target reaches a guarded route without a token', async () => {
      const withToken = await reached(`Authorization: Bearer ${(await app.login()).access_token}`);
      const expected = ['GET /guarded/closed', 'HEAD /guarded/closed', 'GET /guarded/closed?x'];
      expect(withToken).toEqual(expect.arrayContaining([...expected, 'GET http:/guarded/closed']));
      expect(await reached()).toEqual([]);
    });
  });
});

const Recent = controllerOf('recent-class', RECENT, { recent: [], longer: LONGER });
const RecentSubclass = controllerOf('recent-subclass', LONGER, { own: [] }, Recent);
const refusing: CanActivate = { canActivate: () => false };
const RecentHandlers = controllerOf('recent-handlers', [], {
  recent: [...RECENT, returning(CurrentSession())],
  beside: [...RECENT, ...GUARD],
  refused: [...RECENT, UseGuards(refusing)],
});

/** A module without imports, because everything that the guard needs is global. */
@Module({ controllers: [Recent, RecentSubclass, RecentHandlers] })
class FeatureModule {}
describe.each([false, true])('@RequireRecentLogin() with globalGuard: %s', (globalGuard) => {
  const options = { auth: { globalGuard }, imports: [FeatureModule] };

  describeApplication('recent logins', options, ({ app }) => {
    it.each([
      ...['/recent-class/recent', '/recent-class/longer', '/recent-subclass/recent', '/recent-subclass/own'],
      ...['/recent-handlers/recent', '/recent-handlers/beside'],
    ])('@RequireRecentLogin() guards %s, and a request is authenticated once', async (path) => {
      await app.http.get(path).expect(401);
      await app.get(path, 'token').expect(401);
      const { access_token: token, session_id } = await app.login();
      const authenticate = jest.spyOn(app.authentication, 'authenticate');
      const { text } = await app.get(path, token).expect(200);
      expect(text).toContain(path === '/recent-handlers/recent' ? session_id : 'gold');
      expect(authenticate).toHaveBeenCalledTimes(1);
      authenticate.mockRestore();
      app.clock.advance(2 * MINUTE);
      await app.get(path, token).expect(403);
    });

    it('@RequireRecentLogin() does not weaken another guard on the same route', async () => {
      const { access_token: token } = await app.login();
      const forbidden = { message: 'Forbidden resource', error: 'Forbidden', statusCode: 403 };
      await app.get('/recent-handlers/refused', token).expect(403, forbidden);
    });
  });
});

const named = [...PUBLIC, ...GUARD];
const Base = controllerOf('base', [], { inherited: named });
const Restricted = controllerOf('Restricted', RECENT, { open: PUBLIC, optional: OPTIONAL, guarded: GUARD });
const OptionalSubclass = controllerOf('optional-subclass', OPTIONAL, {}, Opened);

it.each<[string, Type[], Type[], string | null]>([
  [
    '@OptionalAuth() together with @Public() or a guard prevents startup',
    [
      controllerOf('Both', [...OPTIONAL, ...GUARD], {
        open: [...PUBLIC, ...OPTIONAL],
        guarded: [...OPTIONAL, ...GUARD],
        recent: [...OPTIONAL, ...RECENT],
        optional: OPTIONAL,
      }),
    ],
    [],
    'beneath `@RequireRecentLogin()` or `@RequireRoles()` on the class: Both, Both.open, Both.guarded, Both.recent.',
  ],
  [
    '@Public() and @OptionalAuth() beneath @RequireRecentLogin() on the class or its superclass prevent startup',
    [Restricted, controllerOf('Subclass', PUBLIC, {}, Restricted)],
    [],
    'on the class: Restricted.open, Restricted.optional, Subclass, Subclass.open, Subclass.optional.',
  ],
  [
    '@Public() and @OptionalAuth() beside or beneath @RequireRoles() prevent startup',
    [
      controllerOf('Both', [...ROLES, ...OPTIONAL], {}),
      controllerOf('Roles', ROLES, { open: PUBLIC, optional: OPTIONAL }),
    ],
    [],
    'on the class: Both, Roles.open, Roles.optional.',
  ],
  [
    '@AllowApiKey() beside @Public() prevents startup',
    [controllerOf('Keys', [], { both: [Public(), AllowApiKey('orders:read')] })],
    [],
    'Keys.both',
  ],
  [
    '@Public() and a guard on one handler or class prevent startup, and the error names each such handler and class',
    [
      controllerOf('Closed', named, {}),
      controllerOf('Recent', [...PUBLIC, ...RECENT], {}),
      controllerOf('Handlers', [], { recent: [...PUBLIC, ...RECENT] }, Base),
    ],
    [controllerOf('Gateway', [], { message: named })],
    'Closed, Recent, Handlers.recent, Handlers.inherited, Gateway.message. Keep one of the three on each handler and each class.',
  ],
  [
    'declarations on different levels do not contradict each other',
    [...controllers, Recent, OptionalSubclass],
    [],
    null,
  ],
])('%s', async (_, controllers, providers, message) => {
  const database = await createDatabase('sqlite');
  const error = await TestApplication.startError({ database, controllers, providers });
  await database.drop();
  expect(error).toEqual(message && expect.stringContaining(message));
});
