import SwaggerParser from '@apidevtools/swagger-parser';
import { Logger, VersioningType } from '@nestjs/common';
import { UserStore, type AuthModuleExtras, type AuthModuleOptions, type StoredUser } from 'nestjs-session-auth';
import { readFileSync } from 'node:fs';
import { loadSwagger } from '../../../libs/auth/src/http/openapi';
import { applicationStarter } from '../../support/start-for-test';
import type { TestApplicationOptions } from '../../support/test-application';
import { documentOf, operationsIn } from './response-checker';

class ReadOnlyUsers extends UserStore {
  findByUsername = async (): Promise<StoredUser | null> => null;
  findById = async (): Promise<StoredUser | null> => null;
}

describe('the OpenAPI document of an application', () => {
  const startApplication = applicationStarter({ users: [] });
  const start = async (auth: AuthModuleOptions & AuthModuleExtras = {}, more: Partial<TestApplicationOptions> = {}) =>
    documentOf((await startApplication({ auth, ...more })).nest);
  /** Returns `METHOD path operationId` of each endpoint of the library. */
  const endpointsIn = (document: ReturnType<typeof documentOf>): string[] =>
    operationsIn(document).map(({ method, path, operationId }) => `${method.toUpperCase()} ${path} ${operationId}`);

  it('the document is valid, and the same in every cookie mode', async () => {
    const endpoints = { reauthenticate: true };
    const document = await start({ endpoints });
    await SwaggerParser.validate(structuredClone(document) as never);
    for (const mode of ['optional', 'only'] as const) {
      expect(await start({ endpoints, cookies: { mode } })).toEqual(document);
    }
  });

  it('the document contains the endpoints that are mapped in its own application, if several run in the process', async () => {
    const all = await startApplication({ auth: { endpoints: { reauthenticate: true } } });
    const withoutChange = endpointsIn(await start({ users: new ReadOnlyUsers() }));
    expect(withoutChange).toHaveLength(7);
    expect(withoutChange.join()).not.toMatch(/authReauthenticate|authChangePassword/);
    expect(endpointsIn(documentOf(all.nest))).toHaveLength(9);
    expect(endpointsIn(await start({ controllers: false }))).toEqual([]);
  });

  it('the document describes each detail of an event that docs/events.md lists', async () => {
    const { components } = await start();
    const entry = components!.schemas!['AuthHistoryEntry'] as { properties: { extra: { properties: object } } };
    const objects = [...readFileSync('docs/events.md', 'utf8').matchAll(/`\{ (.*?) \}`/g)];
    const names = objects.flatMap(([, text]) => text!.split(', ').map((part) => part.split(':')[0]!));
    expect(Object.keys(entry.properties.extra.properties)).toEqual(expect.arrayContaining(['actor', ...names]));
    expect(names.length).toBeGreaterThan(8);
  });

  it('the document follows the global prefix and the path, on Fastify too, and its routes are version-neutral', async () => {
    const configure: TestApplicationOptions['configure'] = (app) => {
      app.setGlobalPrefix('api');
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
    };
    const document = await start({ path: 'account' }, { configure, platform: 'fastify' });
    expect(endpointsIn(document)).toContain('POST /api/account/login authLogin');
    expect(endpointsIn(document).join()).not.toContain('v1');
    expect(endpointsIn(document)).toHaveLength(8);
  });
});

it('an application starts, with a warning only if @nestjs/swagger is installed but cannot be loaded', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  const failToLoad = (error: object) =>
    loadSwagger(() => {
      throw Object.assign(new Error(), error);
    });
  failToLoad({ message: "Cannot find module '@nestjs/swagger'", code: 'MODULE_NOT_FOUND' });
  failToLoad({ message: 'Cannot use import statement' });
  const warning = '@nestjs/swagger is installed but cannot be loaded (Cannot use import statement), ';
  expect(warn.mock.calls).toEqual([[expect.stringContaining(warning)]]);
  warn.mockRestore();
});
