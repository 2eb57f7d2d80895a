import { Controller, Get, Module, UseGuards, type Type } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AuthModule,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  Public,
  RequireRecentLogin,
} from 'nestjs-session-auth';
import { createDatabase, type TestDatabase } from '../support/databases';
import { CHEAP, Host } from '../support/host';

const SILENT = { log() {}, error() {}, warn() {} };

class OwnGuard extends BearerAuthGuard {}

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

  @Get('own-guard')
  @UseGuards(OwnGuard)
  ownGuard(): object {
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

describe('the nearer declaration decides whether a route is open', () => {
  let database: TestDatabase;
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    host = await Host.start({
      database,
      auth: { globalGuard: true },
      controllers: [GuardedController, PublicController, DerivedController, OpenedController],
    });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  it.each([
    ['@Public() on a handler opens it although its class is guarded', '/guarded/open', 200],
    ['a handler of a guarded class without a declaration is guarded', '/guarded/closed', 401],
    ['a handler of a public class without a declaration is open', '/public/open', 200],
    ['@UseGuards(BearerAuthGuard) on a handler closes it although its class is public', '/public/closed', 401],
    ['so does a guard that extends BearerAuthGuard', '/public/own-guard', 401],
    ['so does @RequireRecentLogin()', '/public/recent', 401],
    ['a subclass of a public class is guarded', '/derived/open', 401],
    ['a handler with @Public() stays open in a subclass', '/derived/open-itself', 200],
    ['a subclass with @Public() is open although the class that it extends is guarded', '/opened/closed', 200],
  ])('%s', async (_, path, status) => {
    await host.http.get(path).expect(status);
    await host.get(path, (await host.login()).access_token).expect(200);
  });

  it.each([
    ['@CurrentUser()', '/public/user', 'PublicController.user'],
    ['@CurrentSession()', '/public/session', 'PublicController.session'],
  ])('%s on a route without a guard is an error that names the route and what to add', async (name, path, route) => {
    host.logs.length = 0;
    await host.http.get(path).expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(host.logs.join('\n')).toContain(
      `${name} found no authenticated user in ${route}: no guard has run. Add @UseGuards(BearerAuthGuard)`,
    );
  });
});

@Controller('class')
@Public()
@UseGuards(BearerAuthGuard)
class ContradictoryController {}

abstract class BaseController {
  @Public()
  @UseGuards(OwnGuard)
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

describe('@Public() beside a guard on one handler or class', () => {
  async function startError(parts: { controllers?: Type[]; providers?: Type[] }): Promise<string> {
    const memory = { type: 'better-sqlite3', database: ':memory:', synchronize: true, retryAttempts: 0 } as const;
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...memory, entities: [...AUTH_ENTITIES] }),
        EventEmitterModule.forRoot(),
        AuthModule.forRoot(CHEAP),
      ],
      ...parts,
    })
    class HostModule {}
    const module = await Test.createTestingModule({ imports: [HostModule] })
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

  it('stops the start, with the names of all of them', async () => {
    const controllers = [ContradictoryController, ContradictoryHandlers];
    const error = await startError({ controllers, providers: [ContradictoryGateway] });
    for (const name of ['Controller', 'Handlers.recent', 'Handlers.inherited', 'Gateway.message']) {
      expect(error).toContain(`Contradictory${name}`);
    }
    expect(error).toContain('Remove one of them, or move it');
  });

  it('on different levels is no mistake', async () => {
    expect(await startError({ controllers: [GuardedController, PublicController, OpenedController] })).toBe(
      'it started',
    );
  });
});
