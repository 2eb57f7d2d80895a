import { type AuthModuleOptions, RealmResolver, type TransportCall } from 'nestjs-session-auth';
import { Entity, Index } from 'typeorm';
import { entityOf, GENERATED_ID, mappedUsers, OPTIONAL_TEXT, TEXT, TRUE_BY_DEFAULT } from './mapped-users';
import { PASSWORD, type TestApplication } from './test-application';

const MEMBER_COLUMNS = {
  id: GENERATED_ID,
  tenant: OPTIONAL_TEXT,
  email: TEXT,
  password: TEXT,
  active: TRUE_BY_DEFAULT,
} as const;

@Entity('members')
@Index(['tenant', 'email'], { unique: true })
export class Member extends entityOf('Member', MEMBER_COLUMNS) {}

const MEMBERS = {
  entity: Member,
  username: 'email',
  passwordHash: 'password',
  active: 'active',
  realm: 'tenant',
};

interface Headers {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Reads the realm from a message or the arguments of a GraphQL field, or from the header of a request or handshake. */
export class HeaderRealms extends RealmResolver {
  realmOf(call: TransportCall): string | null {
    const [first, second, context] = [0, 1, 2].map((i) => call.getArgByIndex<never>(i));
    const { realm: ofMessage } = Object(['ws', 'graphql'].includes(call.getType()) ? second : first) as {
      readonly realm?: string;
    };
    const source = call.getType<string>() === 'graphql' ? (context! as { req: Headers }).req : (first! as Headers);
    const realm = ofMessage ?? source.headers?.['x-realm'];
    if (realm === 'failure') throw new Error('no realm');
    return realm === 'promise' ? (Promise.reject(new Error('no realm')) as never) : (realm ?? null);
  }
}

/** An application whose tenants have users on one table. */
export const tenants = (auth: AuthModuleOptions = {}) => mappedUsers(MEMBERS, { realm: HeaderRealms, ...auth });

export const ALICE = { username: 'alice@example.com', password: PASSWORD };

/** Creates a user with the same address and password in each realm. Returns their ids. */
export async function createAlices(app: TestApplication): Promise<number[]> {
  await app.dataSource.getRepository(Member).clear();
  const ids: number[] = [];
  for (const realm of ['acme', 'globex']) ids.push(Number((await app.auth.createUser({ ...ALICE, realm })).id));
  return ids;
}
