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
import { AuthError, AuthErrorFilter, AuthService } from 'nestjs-session-auth';
import { IsEmail } from 'class-validator';
import { createDatabase, type TestDatabase } from '../support/databases';
import { Host, type PlatformName } from '../support/host';

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
  let host: Host;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    host = await Host.start({
      database,
      platform,
      controllers: [ApplicationController],
      configure: (app) => void app.useGlobalPipes(new ValidationPipe()),
    });
  });
  afterAll(async () => {
    await host.close();
    await database.drop();
  });

  it("an AuthError has the library's response without a filter on the route", async () => {
    const { headers } = await host.http.get('/app/refused').expect(400, { non_field_errors: ['Invalid credentials.'] });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('an AuthError is left to a filter on the route', async () => {
    await host.http.get('/app/refused/own-filter').expect(418, { refused: 'invalid_credentials' });
  });

  it('the messages of a ValidationPipe are untouched', async () => {
    const { body } = await host.http.post('/app/validated').send({ email: 'no' }).expect(400);
    expect(body).toEqual({ message: ['email must be an email'], error: 'Bad Request', statusCode: 400 });
  });

  it('the body of an HttpException is untouched', async () => {
    await host.http.get('/app/own-body').expect(409, { reason: 'sold out', next: 'tomorrow' });
  });

  it("an unexpected error is Nest's 500, and Nest logs it", async () => {
    host.logs.length = 0;
    await host.http.get('/app/broken').expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(host.logs.join('\n')).toMatch(/TypeError: the shelf is empty.*ExceptionsHandler/);
  });

  it('a path that nobody serves is a 404 of the platform', async () => {
    const { body } = await host.http.get('/app/nothing').expect(404);
    expect(body).toMatchObject({ statusCode: 404, message: expect.stringMatching(/Cannot GET/) as string });
  });

  it("the library's routes keep the library's shapes", async () => {
    await host.http.get('/auth/sessions').expect(401, {
      detail: 'Authentication credentials were not provided.',
      code: 'credentials_missing',
    });
    jest.spyOn(host.auth, 'listSessions').mockRejectedValueOnce(new TypeError('the shelf is empty'));
    const { access_token: token } = await host.login();
    await host.get('/auth/sessions', token).expect(500, { detail: 'Internal server error.' });
    jest.restoreAllMocks();
  });
});
