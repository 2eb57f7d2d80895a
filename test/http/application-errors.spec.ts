import { Body, Catch, Controller, Get, HttpException, Post, UseFilters, ValidationPipe } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { AuthError, AuthErrorFilter, AuthService } from 'nestjs-session-auth';
import { IsEmail } from 'class-validator';
import { codeOf } from '../docs/run-block';
import { describeHttp, MISSING, postJson } from '../support/environment';
import { INVALID_CREDENTIALS, type TestApplicationOptions } from '../support/test-application';

class SubscribeRequest {
  @IsEmail()
  email!: string;
}

const respond = (host: ArgumentsHost, status: number, body: object): void => {
  const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
  response.status(status).send(body);
};

@Catch(AuthError)
class TeapotFilter implements ExceptionFilter<AuthError> {
  catch(error: AuthError, host: ArgumentsHost): void {
    respond(host, 418, { refused: error.code });
  }
}

@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter<HttpException> {
  catch(error: HttpException, host: ArgumentsHost): void {
    respond(host, error.getStatus(), { caught: error.getResponse() });
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
    return this.refused();
  }

  @Post('validated')
  @UseFilters(AuthErrorFilter)
  validated(@Body() body: SubscribeRequest): object {
    return body;
  }

  @Get('broken')
  @UseFilters(AuthErrorFilter)
  broken(): never {
    throw new TypeError('the shelf is empty');
  }
}

type Configure = NonNullable<TestApplicationOptions['configure']>;
const configuredBy = (configure: Configure) => ({ controllers: [ApplicationController], configure });
const validating = configuredBy((app) => void app.useGlobalPipes(new ValidationPipe()));
const { useFilters } = codeOf('docs/errors.md')<{ useFilters: Configure }>('## Your own exception filters', {
  // Without the filter, the response to an unknown path would be 404.
  replaced: { 'super.catch(error, host)': "super.catch(new Error('caught'), host)" },
});
const catchingAll = configuredBy(useFilters);
const catchingHttp = configuredBy((app) => void app.useGlobalFilters(new HttpExceptionFilter()));

describeHttp("errors of the application's routes", validating, ({ app }) => {
  it("an AuthError causes the library's response unless the route has an exception filter", async () => {
    const { headers } = await app.http.get('/app/refused').expect(400, INVALID_CREDENTIALS);
    expect(headers['cache-control']).toBe('no-store');
    await app.http.get('/app/refused/own-filter').expect(418, { refused: 'invalid_credentials' });
  });

  it('other errors than an AuthError are not changed', async () => {
    const { body } = await app.http.post('/app/validated').send({ email: 'no' }).expect(400);
    expect(body).toEqual({ message: ['email must be an email'], error: 'Bad Request', statusCode: 400 });
    await app.http.get('/app/broken').expect(500, { statusCode: 500, message: 'Internal server error' });
    expect(app.logs.join('\n')).toMatch(/TypeError: the shelf is empty.*ExceptionsHandler/);
  });
});

describeHttp('an application with the filter for all errors of docs/errors.md', catchingAll, ({ app }) => {
  it('an AuthError that the filter passes to AuthErrorFilter causes the response of the library', async () => {
    const { headers } = await app.http.get('/app/refused').expect(400, INVALID_CREDENTIALS);
    expect(headers['cache-control']).toBe('no-store');
    await app.http.get('/app/nothing').expect(500);
  });
});

describeHttp('an application with a filter for HttpException', catchingHttp, ({ app }) => {
  it('the filter responds to an AuthError of a handler and of the guard with the status, headers and body of the library', async () => {
    await app.http.get('/app/refused').expect(400, { caught: INVALID_CREDENTIALS });
    const { headers } = await app.http.get('/me').expect(401, { caught: MISSING });
    expect(headers).toMatchObject({ 'www-authenticate': 'Bearer realm="api"', 'cache-control': 'no-store' });
    const invalid = await app.get('/me', 'x').expect(401);
    expect(invalid.headers['www-authenticate']).toBe('Bearer realm="api", error="invalid_token"');
    expect((await postJson(app, '/app/validated', '{')).body).toContain('caught');
  });

  it("the library's routes keep the library's responses", async () => {
    await app.http.get('/auth/sessions').expect(401, MISSING);
  });
});

it('the extensions of a GraphQL error contain the invalid fields, and the seconds until a retry', () => {
  const fields = { password: ['Invalid password.'] };
  const { extensions } = new AuthError('invalid_field', 'password: Invalid password.', fields);
  expect(extensions).toEqual({ code: 'BAD_REQUEST', authCode: 'invalid_field', fields });
  const limited = { code: 'INTERNAL_SERVER_ERROR', authCode: 'too_many_attempts', retryAfterSeconds: 5 };
  expect(new AuthError('too_many_attempts', 'Too many.', {}, 5).extensions).toEqual(limited);
});
