import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AuthController,
  PasswordController,
  ReauthenticationController,
  SessionsController,
} from 'nestjs-session-auth';

it('docs/openapi.md lists every operation', () => {
  const guide = readFileSync(join(__dirname, '../../docs/openapi.md'), 'utf8');
  const named = [...guide.matchAll(/^\| `\w+ auth[^`]*` \| `(\w+)`/gm)].map(([, id]) => id);
  const controllers = [AuthController, SessionsController, PasswordController, ReauthenticationController];
  const operations = controllers.flatMap(({ prototype }) =>
    Object.values(Object.getOwnPropertyDescriptors(prototype)).flatMap(({ value }) => {
      const found = Reflect.getMetadata('swagger/apiOperation', value as object) as { operationId: string } | undefined;
      return found ? [found.operationId] : [];
    }),
  );
  expect(named).toEqual(operations);
});
