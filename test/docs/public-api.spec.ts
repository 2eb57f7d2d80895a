import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeApplication } from '../support/environment';
import { changedParts, publicApi, type PublicApi } from './public-api';

const ROOT = join(__dirname, '../..');
const REPORT = join(ROOT, 'report/public-api.json');
const RELEASED = join(ROOT, 'report/released.json');
const read = (path: string): PublicApi => JSON.parse(readFileSync(path, 'utf8')) as PublicApi;

/** Returns the changes since the last release that no changeset names. */
function unannounced(released: PublicApi, current: PublicApi, changesets: readonly string[]): string[] {
  return changedParts(released, current).filter((name) => !changesets.some((text) => text.includes(name)));
}

describeApplication('the public API', { users: [], auth: { endpoints: { reauthenticate: true } } }, ({ app }) => {
  it('report/public-api.json is up to date: after a change, run `npm run report`', () => {
    const current = publicApi(app);
    if (process.env['UPDATE_REPORT']) writeFileSync(REPORT, `${JSON.stringify(current, null, 1)}\n`);
    expect(read(REPORT)).toEqual(current);
  });
});

it('a changeset names each change of the public API since the last release: run `npx changeset`', () => {
  const folder = join(ROOT, '.changeset');
  const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const changesets = files.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(unannounced(read(RELEASED), read(REPORT), changesets)).toEqual([]);
});

it.each([
  ['added', {}, { columns: { 'auth_sessions.later': 'text' } }],
  ['removed', { columns: { 'auth_sessions.later': 'text' } }, {}],
  ['changed', { columns: { 'auth_sessions.later': 'text' } }, { columns: { 'auth_sessions.later': 'bigint' } }],
])('a part of the public API that was %s must be named in a changeset', (_, released, current) => {
  expect(unannounced(released, current, ['Something else.'])).toEqual(['auth_sessions.later']);
  expect(unannounced(released, current, ['Something else.', 'The column `auth_sessions.later`.'])).toEqual([]);
});
