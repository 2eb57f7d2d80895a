import { type CanActivate, Controller, Get, Module, UseGuards, type Type } from '@nestjs/common';
import {
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  type SessionInfo,
} from 'nestjs-session-auth';
import { createDatabase } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { describeApplication, describeHttp, sendRaw } from '../support/environment';
import { HeaderTokens } from '../support/header-tokens';
import { TestApplication } from '../support/test-application';

@Controller('guarded')
@UseGuards(BearerAuthGuard)
class GuardedController {
  @Get('open')
  @Public()
  open(): void {}

  @Get('closed')
  closed(): string {
    return 'gold';
  }
}

@Controller('public')
@Public()
class PublicController {
  @Get('open')
  open(): void {}

  @Get('closed')
  @UseGuards(BearerAuthGuard)
  closed(): void {}

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): void {}

  @Get('user')
  user(@CurrentUser() user: object): object {
    return user;
  }

  @Get('session')
  session(@CurrentSession() session: object): object {
    return session;
  }

  @Get('open-itself')
  @Public()
  openItself(): void {}
}

@Controller('derived')
class DerivedController extends PublicController {}

@Controller('opened')
@Public()
class OpenedController extends GuardedController {}

const controllers = [GuardedController, PublicController, DerivedController, OpenedController];

describeApplication('nested declarations', { controllers, auth: { globalGuard: true } }, (env) => {
  it.each([
    ['@Public() on a handler of a guarded class makes the handler public', '/guarded/open', 200],
    ['a handler of a guarded class without a declaration is guarded', '/guarded/closed', 401],
    ['a handler of a public class without a declaration is public', '/public/open', 200],
    ['@UseGuards(BearerAuthGuard) on a handler of a public class guards the handler', '/public/closed', 401],
    ['@RequireRecentLogin() on a handler of a public class guards the handler', '/public/recent', 401],
    ['a subclass of a public class is guarded by the global guard', '/derived/open', 401],
    ['a handler with @Public() stays public in a subclass', '/derived/open-itself', 200],
    ['a subclass with @Public() of a guarded class is public', '/opened/closed', 200],
  ])('%s', async (_, path, status) => {
    await env.app.http.get(path).expect(status);
    await env.app.get(path, (await env.app.login()).access_token).expect(200);
  });

  it.each([
    ['@CurrentUser()', 'user'],
    ['@CurrentSession()', 'session'],
  ])('%s on a route without a guard is an error that names the route and what to add', async (name, handler) => {
    await env.app.http.get(`/public/${handler}`).expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(env.app.logs.join('\n')).toContain(
      `${name} found no authenticated user in PublicController.${handler}: no guard authenticated the call, or a ` +
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
  describeHttp('guarded routes', { controllers, auth: { globalGuard } }, (env) => {
    /** Returns the requests that reached the handler. */
    const reached = async (...headers: string[]): Promise<string[]> => {
      const found: string[] = [];
      for (const target of [...SPELLINGS, ...SPELLINGS.map((path) => env.app.url + path)]) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'get']) {
          const { status, body } = await sendRaw(env.app, [`${method} ${target} HTTP/1.1`, ...headers]);
          if (status === 200 || body.includes('gold')) found.push(`${method} ${target.replace(env.app.url, 'http:')}`);
        }
      }
      return found;
    };

    it('no spelling of the path, method or absolute request target reaches a guarded route without a token', async () => {
      const withToken = await reached(`Authorization: Bearer ${(await env.app.login()).access_token}`);
      const expected = ['GET /guarded/closed', 'HEAD /guarded/closed', 'GET /guarded/closed?x'];
      expect(withToken).toEqual(expect.arrayContaining([...expected, 'GET http:/guarded/closed']));
      expect(await reached()).toEqual([]);
    });
  });
});

@Controller('recent-class')
@RequireRecentLogin({ withinSeconds: 60 })
class RecentController {
  @Get()
  recent(@CurrentSession() { id }: SessionInfo): object {
    return { session_id: id };
  }

  @Get('longer')
  @RequireRecentLogin({ withinSeconds: 600 })
  longer(): void {}
}

@Controller('recent-subclass')
@RequireRecentLogin({ withinSeconds: 600 })
class RecentSubclass extends RecentController {
  @Get('own')
  own(): void {}
}

class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Controller('recent-handlers')
class RecentHandlers {
  @Get()
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(@CurrentSession() { id }: SessionInfo): object {
    return { session_id: id };
  }

  @Get('refused')
  @UseGuards(RefusingGuard)
  @RequireRecentLogin({ withinSeconds: 60 })
  refused(): void {}

  @Get('beside')
  @UseGuards(BearerAuthGuard)
  @RequireRecentLogin({ withinSeconds: 60 })
  beside(): void {}
}

/** A module without imports, because everything that the guard needs is global. */
@Module({ controllers: [RecentController, RecentSubclass, RecentHandlers] })
class FeatureModule {}

describe.each([false, true])('@RequireRecentLogin() with globalGuard: %s', (globalGuard) => {
  const options = { auth: { globalGuard, tokenSource: HeaderTokens }, imports: [FeatureModule] };

  describeApplication('recent logins', options, (env) => {
    it.each([
      ...['/recent-class', '/recent-class/longer', '/recent-subclass', '/recent-subclass/own'],
      ...['/recent-handlers', '/recent-handlers/beside'],
    ])('@RequireRecentLogin() guards %s, and a request is authenticated once', async (path) => {
      await env.app.http.get(path).expect(401);
      await env.app.get(path, 'token').expect(401);
      const { access_token: token, session_id } = await env.app.login();
      const authenticate = jest.spyOn(env.app.authentication, 'authenticate');
      const { body } = await env.app.get(path, token).expect(200);
      if (path.lastIndexOf('/') === 0) expect(body).toEqual({ session_id });
      expect(authenticate).toHaveBeenCalledTimes(1);
      authenticate.mockRestore();
      env.app.clock.advance(2 * MINUTE);
      await env.app.get(path, token).expect(403);
    });

    it('@RequireRecentLogin() does not weaken another guard on the same route', async () => {
      const { access_token: token } = await env.app.login();
      const forbidden = { message: 'Forbidden resource', error: 'Forbidden', statusCode: 403 };
      await env.app.get('/recent-handlers/refused', token).expect(403, forbidden);
    });

    it('a route with @RequireRecentLogin() accepts the token that a token source finds', async () => {
      const { access_token: token, session_id } = await env.app.login();
      const withOwnHeader = (value: string) => env.app.http.get('/recent-handlers').set('X-Token', value);
      await withOwnHeader(token).expect(200, { session_id });
      await withOwnHeader('token').expect(401);
      env.app.clock.advance(2 * MINUTE);
      await withOwnHeader(token).expect(403);
    });
  });
});

@Controller()
@Public()
@UseGuards(BearerAuthGuard)
class ContradictoryController {}

@Controller()
@Public()
@RequireRecentLogin({ withinSeconds: 60 })
class ContradictoryRecentController {}

abstract class BaseController {
  @Public()
  @UseGuards(BearerAuthGuard)
  inherited(): void {}
}

@Controller()
class ContradictoryHandlers extends BaseController {
  @Public()
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): void {}
}

class ContradictoryGateway {
  @Public()
  @UseGuards(BearerAuthGuard)
  message(): void {}
}

@Controller()
@OptionalAuth()
@UseGuards(BearerAuthGuard)
class ContradictoryOptionalController {
  @Public()
  @OptionalAuth()
  open(): void {}

  @OptionalAuth()
  @UseGuards(BearerAuthGuard)
  guarded(): void {}

  @RequireRecentLogin({ withinSeconds: 60 })
  @OptionalAuth()
  recent(): void {}

  @OptionalAuth()
  optional(): void {}
}

@Controller()
@RequireRecentLogin({ withinSeconds: 60 })
class RestrictedController {
  @Public()
  open(): void {}

  @OptionalAuth()
  optional(): void {}

  @UseGuards(BearerAuthGuard)
  guarded(): void {}
}

@Controller()
@Public()
class OpenedRestriction extends RestrictedController {}

@Controller()
@OptionalAuth()
class OptionalController extends PublicController {}

@Controller()
@OptionalAuth()
class OptionalSubclass extends OptionalController {}

describe('contradictory declarations on one handler or class', () => {
  async function startError(controllers: Type[], providers: Type[] = []): Promise<string | null> {
    const database = await createDatabase('sqlite');
    const error = await TestApplication.startError({ database, controllers, providers });
    await database.drop();
    return error;
  }

  it('@OptionalAuth() together with @Public() or a guard prevents startup', async () => {
    const error = await startError([ContradictoryOptionalController]);
    const name = 'ContradictoryOptionalController';
    expect(error).toContain('more than one of `@Public()`, `@OptionalAuth()` and a guard');
    expect(error).toContain(`on the class: ${name}, ${name}.open, ${name}.guarded, ${name}.recent.`);
  });

  it('@Public() and @OptionalAuth() beneath @RequireRecentLogin() on the class or its superclass prevent startup', async () => {
    const error = await startError([RestrictedController, OpenedRestriction]);
    const own = ['RestrictedController.open', 'RestrictedController.optional', 'OpenedRestriction'];
    const inherited = ['OpenedRestriction.open', 'OpenedRestriction.optional'];
    expect(error).toContain(`on the class: ${[...own, ...inherited].join(', ')}.`);
  });

  it('an empty list of methods is an error', () => {
    expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [] })).toThrow('Pass 1 to 8 names');
  });

  it('@Public() and a guard on one handler or class prevent startup, and the error names each such handler and class', async () => {
    const controllers = [ContradictoryController, ContradictoryRecentController, ContradictoryHandlers];
    const error = await startError(controllers, [ContradictoryGateway]);
    for (const name of ['Controller', 'RecentController', 'Handlers.recent', 'Handlers.inherited', 'Gateway.message']) {
      expect(error).toContain(`Contradictory${name}`);
    }
    expect(error).toContain('Keep one of the three on each handler and each class.');
  });

  it('declarations on different levels do not contradict each other', async () => {
    expect(await startError([...controllers, RecentController, OptionalController, OptionalSubclass])).toBeNull();
  });
});
