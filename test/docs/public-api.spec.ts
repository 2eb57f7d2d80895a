import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApplication } from '../support/environment';
import { changedParts, publicApi, type PublicApi } from './public-api';

const ROOT = join(__dirname, '../..');
const REPORT = join(ROOT, 'report/public-api.json');
const RELEASED = join(ROOT, 'report/released.json');
const read = (path: string): PublicApi => JSON.parse(readFileSync(path, 'utf8')) as PublicApi;

describeApplication('the public API', { users: [], auth: { endpoints: { reauthenticate: true } } }, ({ app }) => {
  // After a change, run `npm run report`.
  it('the public API is exactly that of report/public-api.json', () => {
    const current = publicApi(app);
    if (process.env['UPDATE_REPORT']) writeFileSync(REPORT, `${JSON.stringify(current, null, 1)}\n`);
    expect(read(REPORT)).toEqual(current);
  });
});

it('a changeset names each change of the public API since the last release: run `npx changeset`', () => {
  const folder = join(ROOT, '.changeset');
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const changesets = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  const changed = changedParts(read(RELEASED), read(REPORT));
  expect(changed.filter((name) => !changesets.some((text) => text.includes(name)))).toEqual([]);
});
