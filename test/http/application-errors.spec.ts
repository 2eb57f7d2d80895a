import {
  Body,
  Catch,
  Controller,
  Get,
  HttpException,
  Post,
  UseFilters,
  ValidationPipe,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { AuthError, AuthErrorFilter, AuthService } from 'nestjs-session-auth';
import { IsEmail } from 'class-validator';
import { inspect } from 'node:util';
import { OwnSessions } from '../../libs/auth/src/sessions/own-sessions';
import { describeHttp, postJson, sendRaw } from '../support/environment';
import { createDatabase, type TestDatabase } from '../support/databases';
import { TestApplication, type PlatformName } from '../support/test-application';

class SubscribeRequest {
  @IsEmail()
  email!: string;
}

@Catch(AuthError)
class TeapotFilter implements ExceptionFilter<AuthError> {
  catch(error: AuthError, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
    response.status(418).send({ refused: error.code });
  }
}

@Catch()
class AllErrorsFilter extends BaseExceptionFilter {
  constructor(private readonly adapters: HttpAdapterHost) {
    super(adapters.httpAdapter);
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    if (error instanceof AuthError) return void new AuthErrorFilter(this.adapters).catch(error, host);
    super.catch(new HttpException({ caught: true }, 418), host);
  }
}

@Controller('app')
class ApplicationController {
  constructor(private readonly auth: AuthService) {}

  @Get('refused')
  refused(): Promise<unknown> {
    return this.auth.login({ username: 'alice', password: 'wrong' });
  }

  @Get('refused/own-filter')
  @UseFilters(TeapotFilter)
  refusedWithOwnFilter(): Promise<unknown> {
    return this.auth.login({ username: 'alice', password: 'wrong' });
  }

  @Post('validated')
  @UseFilters(AuthErrorFilter)
  validated(@Body() body: SubscribeRequest): object {
    return body;
  }

  @Get('own-body')
  @UseFilters(AuthErrorFilter)
  ownBody(): never {
    throw new HttpException({ reason: 'sold out', next: 'tomorrow' }, 409);
  }

  @Get('broken')
  @UseFilters(AuthErrorFilter)
  broken(): never {
    throw new TypeError('the shelf is empty');
  }
}

describe.each<PlatformName>(['express', 'fastify'])("errors of the application's routes on %s", (platform) => {
  let database: TestDatabase;
  let app: TestApplication;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    app = await TestApplication.start({
      database,
      platform,
      controllers: [ApplicationController],
      configure: (app) => void app.useGlobalPipes(new ValidationPipe()),
    });
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });

  it("an AuthError causes the library's response if the route has no exception filter", async () => {
    const { headers } = await app.http.get('/app/refused').expect(400, { non_field_errors: ['Invalid credentials.'] });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('an AuthError is passed to the exception filter of the route', async () => {
    await app.http.get('/app/refused/own-filter').expect(418, { refused: 'invalid_credentials' });
  });

  it('the messages of a ValidationPipe are not changed', async () => {
    const { body } = await app.http.post('/app/validated').send({ email: 'no' }).expect(400);
    expect(body).toEqual({ message: ['email must be an email'], error: 'Bad Request', statusCode: 400 });
  });

  it('the body of an HttpException is not changed', async () => {
    await app.http.get('/app/own-body').expect(409, { reason: 'sold out', next: 'tomorrow' });
  });

  it("an unexpected error causes Nest's response with 500, and Nest logs the error", async () => {
    app.logs.length = 0;
    await app.http.get('/app/broken').expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(app.logs.join('\n')).toMatch(/TypeError: the shelf is empty.*ExceptionsHandler/);
  });

  it("a request to an unknown path receives Nest's 404 response", async () => {
    const { body } = await app.http.get('/app/nothing').expect(404);
    expect(body).toMatchObject({ statusCode: 404, message: expect.stringMatching(/Cannot GET/) as string });
  });

  it("the library's routes keep the library's error format", async () => {
    await app.http.get('/auth/sessions').expect(401, {
      detail: 'Authentication credentials were not provided.',
      code: 'credentials_missing',
    });
    jest.spyOn(app.nest.get(OwnSessions), 'list').mockRejectedValueOnce(new TypeError('the shelf is empty'));
    const { access_token: token } = await app.login();
    await app.get('/auth/sessions', token).expect(500, { detail: 'Internal server error.' });
    jest.restoreAllMocks();
  });
});

describeHttp(
  'an application with a filter for all errors',
  {
    controllers: [ApplicationController],
    configure: (app) => void app.useGlobalFilters(new AllErrorsFilter(app.get(HttpAdapterHost))),
  },
  (env) => {
    it('an AuthError that the filter passes to AuthErrorFilter causes the response of the library', async () => {
      const refused = env.app.http.get('/app/refused');
      const { headers } = await refused.expect(400, { non_field_errors: ['Invalid credentials.'] });
      expect(headers['cache-control']).toBe('no-store');
    });

    it('the filter can instead use the status and body of an AuthError, as of every HttpException', async () => {
      const error = await env.app.auth.login({ username: 'alice', password: 'wrong' }).catch((one: unknown) => one);
      expect(error).toBeInstanceOf(HttpException);
      const { status, response } = {
        status: (error as AuthError).getStatus(),
        response: (error as AuthError).getResponse(),
      };
      expect([status, response]).toEqual([400, { non_field_errors: ['Invalid credentials.'] }]);
    });

    it('the filter catches other errors', async () => {
      await env.app.http.get('/app/nothing').expect(418, { caught: true });
    });
  },
);

@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter<HttpException> {
  catch(error: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
    response.status(error.getStatus()).send({ caught: error.getResponse() });
  }
}

describeHttp(
  'an application with a filter for HttpException',
  { controllers: [ApplicationController], configure: (app) => void app.useGlobalFilters(new HttpExceptionFilter()) },
  (env) => {
    it('the filter responds to an AuthError of a handler and of the guard with the status and body of the library', async () => {
      await env.app.http.get('/app/refused').expect(400, { caught: { non_field_errors: ['Invalid credentials.'] } });
      const { headers } = await env.app.http.get('/me').expect(401, {
        caught: { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' },
      });
      expect(headers['www-authenticate']).toBe('Bearer realm="api"');
    });

    it("the library's routes keep the library's responses to bodies that the platform refuses", async () => {
      const refuse = async (answer: ReturnType<typeof sendRaw>): Promise<unknown> => {
        const { status, body, headers } = await answer;
        expect([JSON.parse(body), headers['cache-control']]).toEqual([{ detail: expect.any(String) }, 'no-store']);
        return status;
      };
      const { app } = env;
      expect(await refuse(postJson(app, '/auth/login', '{'))).toBe(400);
      expect(await refuse(postJson(app, '/auth/login', JSON.stringify({ username: 'x'.repeat(110_000) })))).toBe(413);
      for (const type of ['text/plain', 'application/json; charset=latin1', 'x']) {
        const headers = [`Content-Type: ${type}`, 'Content-Length: 2'];
        expect(await refuse(sendRaw(app, ['POST /auth/login HTTP/1.1', ...headers], '{}'))).toBe(415);
      }
      const { status, body } = await postJson(app, '/app/validated', '{');
      expect([status, body]).toEqual([400, expect.stringMatching(/caught/)]);
    });

    it("the library's routes keep the library's responses", async () => {
      const body = { detail: 'Authentication credentials were not provided.', code: 'credentials_missing' };
      await env.app.http.get('/auth/sessions').expect(401, body);
    });
  },
);

it('an AuthError does not show its login ticket when it is inspected or serialized, but its response contains the ticket', () => {
  const error = new AuthError('second_factor_required', 'A second factor is required.', {}, null, 'nsal_secret');
  expect(`${inspect(error, { showHidden: true, depth: 5 })}${JSON.stringify(error)}`).not.toContain('nsal_secret');
  expect(error.getResponse()).toMatchObject({ code: 'second_factor_required', login_ticket: 'nsal_secret' });
});
