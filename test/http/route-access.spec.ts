import { type CanActivate, Controller, Get, Module, UseGuards, type Type } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AuthModule,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  OptionalAuth,
  Public,
  RequireRecentLogin,
  type SessionInfo,
} from 'nestjs-session-auth';
import { createDatabase, type TestDatabase } from '../support/databases';
import { MINUTE } from '../support/driven-clock';
import { CHEAP, TestApplication } from '../support/test-application';
import { MEMORY } from '../support/sqlite';
import { HeaderTokens } from '../support/header-tokens';

const SILENT = { log() {}, error() {}, warn() {} };

@Controller('guarded')
@UseGuards(BearerAuthGuard)
class GuardedController {
  @Get('open')
  @Public()
  open(): object {
    return {};
  }

  @Get('closed')
  closed(): object {
    return {};
  }
}

@Controller('public')
@Public()
class PublicController {
  @Get('open')
  open(): object {
    return {};
  }

  @Get('closed')
  @UseGuards(BearerAuthGuard)
  closed(): object {
    return {};
  }

  @Get('recent')
  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): object {
    return {};
  }

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
  openItself(): object {
    return {};
  }
}

@Controller('derived')
class DerivedController extends PublicController {}

@Controller('opened')
@Public()
class OpenedController extends GuardedController {}

describe('a declaration on a handler overrides the declaration on its class', () => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      auth: { globalGuard: true },
      controllers: [GuardedController, PublicController, DerivedController, OpenedController],
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

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
    await app.http.get(path).expect(status);
    await app.get(path, (await app.login()).access_token).expect(200);
  });

  it.each([
    ['@CurrentUser()', '/public/user', 'PublicController.user'],
    ['@CurrentSession()', '/public/session', 'PublicController.session'],
  ])('%s on a route without a guard is an error that names the route and what to add', async (name, path, route) => {
    app.logs.length = 0;
    await app.http.get(path).expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(app.logs.join('\n')).toContain(
      `${name} found no authenticated user in ${route}: no guard authenticated the call, or a replacement of the guard did not set \`request.auth\`. Add @UseGuards(BearerAuthGuard)`,
    );
  });
});

@Controller('recent-class')
@RequireRecentLogin({ withinSeconds: 60 })
class RecentController {
  @Get()
  recent(@CurrentSession() session: SessionInfo): object {
    return { session_id: session.id };
  }

  @Get('longer')
  @RequireRecentLogin({ withinSeconds: 600 })
  longer(): object {
    return {};
  }
}

@Controller('recent-subclass')
class RecentSubclass extends RecentController {
  @Get('own')
  own(): object {
    return {};
  }
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
  recent(@CurrentSession() session: SessionInfo): object {
    return { session_id: session.id };
  }

  @Get('refused')
  @UseGuards(RefusingGuard)
  @RequireRecentLogin({ withinSeconds: 60 })
  refused(): object {
    return {};
  }

  @Get('beside')
  @UseGuards(BearerAuthGuard)
  @RequireRecentLogin({ withinSeconds: 60 })
  beside(): object {
    return {};
  }
}

/** A module without imports, because everything that the guard needs is global. */
@Module({ controllers: [RecentController, RecentSubclass, RecentHandlers] })
class FeatureModule {}

describe.each([false, true])('@RequireRecentLogin() with globalGuard: %s', (globalGuard) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      auth: { globalGuard, tokenSource: HeaderTokens },
      imports: [FeatureModule],
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  const FORBIDDEN = { message: 'Forbidden resource', error: 'Forbidden', statusCode: 403 };
  const MISSING = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };

  it.each([
    '/recent-class',
    '/recent-class/longer',
    '/recent-subclass',
    '/recent-subclass/own',
    '/recent-handlers',
    '/recent-handlers/beside',
  ])('@RequireRecentLogin() guards %s, and a request is authenticated once', async (path) => {
    await app.http.get(path).expect(401, MISSING);
    await app.get(path, 'token').expect(401);
    const { access_token: token } = await app.login();
    const authenticate = jest.spyOn(app.authentication, 'authenticate');
    await app.get(path, token).expect(200);
    expect(authenticate).toHaveBeenCalledTimes(1);
    authenticate.mockRestore();
    app.clock.advance(2 * MINUTE);
    await app.get(path, token).expect(403);
  });

  it('@RequireRecentLogin() does not weaken another guard on the same route', async () => {
    const { access_token: token } = await app.login();
    await app.get('/recent-handlers/refused', token).expect(403, FORBIDDEN);
  });

  it('a route with @RequireRecentLogin() receives the session of the token', async () => {
    const { access_token: token, session_id } = await app.login();
    for (const path of ['/recent-class', '/recent-handlers']) await app.get(path, token).expect(200, { session_id });
  });

  it('a route with @RequireRecentLogin() accepts the token that a token source finds', async () => {
    const { access_token: token, session_id } = await app.login();
    const withOwnHeader = (value: string) => app.http.get('/recent-handlers').set('X-Token', value);
    await withOwnHeader(token).expect(200, { session_id });
    await withOwnHeader('token').expect(401);
    app.clock.advance(2 * MINUTE);
    await withOwnHeader(token).expect(403);
  });
});

@Controller('class')
@Public()
@UseGuards(BearerAuthGuard)
class ContradictoryController {}

@Controller('recent')
@Public()
@RequireRecentLogin({ withinSeconds: 60 })
class ContradictoryRecentController {}

abstract class BaseController {
  @Public()
  @UseGuards(BearerAuthGuard)
  inherited(): void {}
}

@Controller('handlers')
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

@Controller('optional')
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

@Controller('restricted')
@RequireRecentLogin({ withinSeconds: 60 })
class RestrictedController {
  @Public()
  open(): void {}

  @OptionalAuth()
  optional(): void {}

  @UseGuards(BearerAuthGuard)
  guarded(): void {}

  @RequireRecentLogin({ withinSeconds: 30 })
  recent(): void {}
}

@Controller('restricted-subclass')
@Public()
class OpenedRestriction extends RestrictedController {}

@Controller('consistent')
@OptionalAuth()
class OptionalController {
  @Public()
  open(): void {}

  @UseGuards(BearerAuthGuard)
  guarded(): void {}

  @RequireRecentLogin({ withinSeconds: 60 })
  recent(): void {}

  @OptionalAuth()
  optional(): void {}
}

@Controller('optional-subclass')
@OptionalAuth()
class OptionalSubclass extends OptionalController {}

describe('contradictory declarations on one handler or class', () => {
  async function startError(parts: { controllers?: Type[]; providers?: Type[] }): Promise<string> {
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...MEMORY, entities: [...AUTH_ENTITIES] }),
        EventEmitterModule.forRoot(),
        AuthModule.forRoot(CHEAP),
      ],
      ...parts,
    })
    class ApplicationModule {}
    const module = await Test.createTestingModule({ imports: [ApplicationModule] })
      .setLogger(SILENT)
      .compile();
    const app = module.createNestApplication();
    const error = await app.init().then(
      () => 'it started',
      ({ message }: Error) => message,
    );
    await app.close();
    return error;
  }

  it('@OptionalAuth() together with @Public() or a guard prevents startup', async () => {
    const error = await startError({ controllers: [ContradictoryOptionalController] });
    const name = 'ContradictoryOptionalController';
    const places = [name, `${name}.open`, `${name}.guarded`, `${name}.recent`].join(', ');
    expect(error).toContain('more than one of `@Public()`, `@OptionalAuth()` and a guard');
    expect(error).toContain(`on the class: ${places}.`);
  });

  it('@Public() and @OptionalAuth() beneath @RequireRecentLogin() on the class or its superclass prevent startup', async () => {
    const error = await startError({ controllers: [RestrictedController, OpenedRestriction] });
    const places = ['RestrictedController.open', 'RestrictedController.optional', 'OpenedRestriction'];
    const inherited = ['OpenedRestriction.open', 'OpenedRestriction.optional'];
    expect(error).toContain(`on the class: ${[...places, ...inherited].join(', ')}.`);
  });

  it('an empty list of methods is an error', () => {
    expect(() => RequireRecentLogin({ withinSeconds: 60, methods: [] })).toThrow('Pass 1 to 8 names');
  });

  it('@Public() and a guard on one handler or class prevent startup, and the error names each such handler and class', async () => {
    const controllers = [ContradictoryController, ContradictoryRecentController, ContradictoryHandlers];
    const error = await startError({ controllers, providers: [ContradictoryGateway] });
    for (const name of ['Controller', 'RecentController', 'Handlers.recent', 'Handlers.inherited', 'Gateway.message']) {
      expect(error).toContain(`Contradictory${name}`);
    }
    expect(error).toContain('Keep one of the three on each handler and each class.');
  });

  it('declarations on different levels do not contradict each other', async () => {
    const controllers = [
      GuardedController,
      PublicController,
      OpenedController,
      RecentController,
      OptionalController,
      OptionalSubclass,
    ];
    expect(await startError({ controllers })).toBe('it started');
  });
});
