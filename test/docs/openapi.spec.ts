import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENDPOINTS } from '../../libs/auth/src/http/endpoints';

it('docs/openapi.md lists every operation', () => {
  const guide = readFileSync(join(__dirname, '../../docs/openapi.md'), 'utf8');
  const named = [...guide.matchAll(/^\| `\w+ auth[^`]*` \| `(\w+)`/gm)].map(([, id]) => id);
  expect(named).toEqual(ENDPOINTS.map(({ id }) => id));
});
