import { headers } from 'next/headers';
import { sessionOf } from '../session';
import { Account, type User } from './account';

export default async function Page() {
  const response = await sessionOf(await headers()).fetch('/me');
  if (!response.ok && response.status !== 401) throw new Error(`The API responded with ${response.status}.`);
  const user = response.ok ? ((await response.json()) as User) : undefined;
  // Undefined rather than null: the browser may still be able to refresh, so it loads the user itself.
  return <Account user={user} />;
}
