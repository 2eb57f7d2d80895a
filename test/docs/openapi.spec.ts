import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from '../../libs/auth/src/http/openapi/operations';

it('the guide to OpenAPI names the operations that there are', () => {
  const guide = readFileSync(join(__dirname, '../../docs/openapi.md'), 'utf8');
  const named = [...guide.matchAll(/^\| `\w+ auth[^`]*` \| `(\w+)`/gm)].map(([, id]) => id);
  expect(named).toEqual(OPERATIONS.map(({ id }) => id));
});
