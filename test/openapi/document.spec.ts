import SwaggerParser from '@apidevtools/swagger-parser';
import { Logger, Module, VersioningType } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  AUTH_ENTITIES,
  AuthModule,
  UserStore,
  type AuthModuleExtras,
  type AuthModuleOptions,
  type StoredUser,
} from 'nestjs-session-auth';
import { ENDPOINTS } from '../../libs/auth/src/http/endpoints/endpoints';
import { describeEndpoints } from '../../libs/auth/src/http/endpoints/openapi/describe-endpoints';
import { createDatabase, type TestDatabase } from '../support/databases';
import { CHEAP, Host, type HostOptions } from '../support/host';
import { documentOf } from './document';

const OWN = /^auth[A-Z]/;

class ReadOnlyUsers extends UserStore {
  async findByUsername(): Promise<StoredUser | null> {
    return null;
  }

  async findById(): Promise<StoredUser | null> {
    return null;
  }
}

describe('the OpenAPI document of a host', () => {
  let database: TestDatabase;
  let host: Host | undefined;

  beforeEach(async () => {
    database = await createDatabase('sqlite');
  });
  afterEach(async () => {
    await host?.close();
    host = undefined;
    await database.drop();
  });

  const start = async (auth: AuthModuleOptions & AuthModuleExtras = {}, more: Partial<HostOptions> = {}) => {
    host = await Host.start({ database, auth, users: [], ...more });
    return documentOf(host.app);
  };
  /** `METHOD path operationId` of each of the library's endpoints. */
  const told = (document: ReturnType<typeof documentOf>): string[] =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, { operationId: string }>)
        .filter(([, { operationId }]) => OWN.test(operationId))
        .map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
    );

  it('is valid, and shows each endpoint once, by a name that stays', async () => {
    const document = await start({ recentLogin: { endpoint: true } });
    await SwaggerParser.validate(structuredClone(document) as never);
    expect(told(document)).toEqual([
      'POST /auth/login authLogin',
      'POST /auth/token/refresh authRefresh',
      'POST /auth/logout authLogout',
      'POST /auth/logout/all authLogoutAll',
      'GET /auth/sessions authListSessions',
      'DELETE /auth/sessions/{sessionId} authRevokeSession',
      'GET /auth/history authHistory',
      'POST /auth/password/change authChangePassword',
      'POST /auth/reauthenticate authReauthenticate',
    ]);
  });

  it('shows the optional endpoints only where they are', async () => {
    expect(told(await start()).join()).not.toContain('authReauthenticate');
    await host!.close();
    const document = await start({ users: new ReadOnlyUsers() });
    expect(told(document)).toHaveLength(7);
    expect(told(document).join()).not.toContain('authChangePassword');
    await host!.close();
    expect(told(await start({ recentLogin: { endpoint: true } }))).toHaveLength(9);
  });

  it('shows those of its own application, whatever others of the process have', async () => {
    await start({ recentLogin: { endpoint: true } });
    const other = await Host.start({ database, auth: { users: new ReadOnlyUsers() }, users: [] });
    expect(told(documentOf(host!.app))).toHaveLength(9);
    expect(told(documentOf(other.app))).toHaveLength(7);
    await other.close();
  });

  it('says which endpoints need a token, and what is sent to them', async () => {
    const document = await start({ recentLogin: { endpoint: true } });
    expect(document.components!.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'opaque' },
    });
    for (const { id, isPublic, body } of ENDPOINTS) {
      const operation = Object.values(document.paths)
        .flatMap((methods) => Object.values(methods as Record<string, never>))
        .find((one: { operationId: string }) => one.operationId === id) as unknown as Record<string, unknown>;
      expect(operation['security']).toEqual(isPublic ? undefined : [{ bearer: [] }]);
      expect(operation['tags']).toEqual(['Authentication']);
      const required = id !== 'authLogoutAll';
      const content = { 'application/json': { schema: { $ref: `#/components/schemas/Auth${body?.name}` } } };
      expect(operation['requestBody']).toEqual(body ? { required, content } : undefined);
    }
  });

  it('says where the values have a format, and which of them may be missing', async () => {
    const { components } = await start();
    const schemas = components!.schemas as Record<string, { required?: string[] }>;
    expect(schemas['AuthSession']).toMatchObject({
      properties: {
        id: { format: 'uuid' },
        created_at: { format: 'date-time' },
        ip_address: { type: 'string', nullable: true },
      },
    });
    expect(schemas['AuthSession']!.required).toHaveLength(10);
    expect(schemas['AuthLoginRequest']).toMatchObject({ required: ['username', 'password'] });
    expect(schemas['AuthLogoutAllRequest']!.required).toBeUndefined();
  });

  it('follows the prefix, the path and the versioning of the host', async () => {
    const configure: HostOptions['configure'] = (app) => {
      app.setGlobalPrefix('api');
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
    };
    const document = await start({ path: 'account' }, { configure });
    expect(told(document)).toContain('POST /api/account/login authLogin');
    expect(told(document).join()).not.toContain('v1');
    expect(told(document)).toHaveLength(8);
  });

  it('tells of no endpoint where none is mounted', async () => {
    expect(told(await start({ controllers: false }))).toEqual([]);
  });

  it('says the same on Fastify and on Express', async () => {
    const document = await start();
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...database.options, entities: [...AUTH_ENTITIES] }),
        EventEmitterModule.forRoot(),
        AuthModule.forRoot(CHEAP),
      ],
    })
    class FastifyHost {}
    const module = await Test.createTestingModule({ imports: [FastifyHost] }).compile();
    const app = module.createNestApplication(new FastifyAdapter());
    await app.init();
    expect(told(documentOf(app))).toEqual(told(document));
    await app.close();
  });
});

describe('a host in which @nestjs/swagger', () => {
  let warn: jest.SpyInstance;
  beforeEach(() => {
    warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  });
  afterEach(() => warn.mockRestore());

  it('is not installed starts, and is told nothing', () => {
    const missing = Object.assign(new Error("Cannot find module '@nestjs/swagger'"), { code: 'MODULE_NOT_FOUND' });
    describeEndpoints(false, () => {
      throw missing;
    });
    expect(warn).not.toHaveBeenCalled();
  });

  it('cannot be loaded starts too, and is warned', () => {
    describeEndpoints(false, () => {
      throw new SyntaxError('Cannot use import statement outside a module');
    });
    expect(warn).toHaveBeenCalledWith(
      '@nestjs/swagger cannot be loaded: the OpenAPI document will lack the endpoints.',
    );
  });
});
