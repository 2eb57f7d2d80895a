import { AuthUser } from 'nestjs-session-auth';
import { BcryptPasswordHasher } from '../../libs/auth/src/adapters/hashers/bcrypt-password-hasher';
import { CountingHasher } from '../support/counting-hasher';
import { PASSWORD, type Host } from '../support/host';
import { Tap } from '../support/tap';
import { sendRaw, setActive, stories, type Stage } from './stories';

const hasher = new CountingHasher();

async function setHash(host: Host, username: string, passwordHash: string | null): Promise<void> {
  await host.dataSource.getRepository(AuthUser).update({ username }, { passwordHash });
}

/** What a login is refused by, and how that case is made. */
const CASES: Readonly<Record<string, { username: string; password: string; make?: (host: Host) => Promise<void> }>> = {
  'a wrong password': { username: 'alice', password: 'wrong' },
  'an unknown name': { username: 'nobody', password: PASSWORD },
  'a disabled user': { username: 'bob', password: PASSWORD, make: (host) => setActive(host, 'bob', false) },
  'a user without a password': { username: 'carol', password: PASSWORD, make: (host) => setHash(host, 'carol', null) },
  'an empty stored hash': { username: 'carol', password: PASSWORD, make: (host) => setHash(host, 'carol', '') },
  'a stored hash that is none': { username: 'carol', password: PASSWORD, make: (host) => setHash(host, 'carol', '!') },
  'a stored hash of hostile cost': {
    username: 'carol',
    password: PASSWORD,
    make: (host) => setHash(host, 'carol', `$2b$31$${'a'.repeat(53)}`),
  },
  'a password over 72 bytes': { username: 'alice', password: 'x'.repeat(73) },
};

const options = { users: ['alice', 'bob', 'carol'], auth: { passwordHasher: hasher } };

stories('a login that is refused', options, (at: Stage) => {
  it('does not reveal its cause: the same bytes, the same statements, one hash of the same cost', async () => {
    const { host } = at;
    const tap = new Tap(host);
    const seen: Record<string, { bytes: string; statements: string[]; costs: (string | undefined)[] }> = {};
    for (const [name, { username, password, make }] of Object.entries(CASES)) {
      await make?.(host);
      const statements: string[] = [];
      tap.hook = { before: ({ kind, sql }) => void (kind === 'statement' && statements.push(sql)) };
      hasher.verified.length = 0;
      const json = JSON.stringify({ username, password });
      const lines = [
        'POST /auth/login/ HTTP/1.1',
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(json)}`,
      ];
      const { bytes } = await sendRaw(host, lines, json);
      tap.hook = {};
      seen[name] = { bytes, statements, costs: hasher.verified.map((hash) => hash.split('$')[2]) };
    }
    const [first, ...others] = Object.values(seen);
    expect(first!.bytes).toContain('Invalid credentials.');
    expect(first!.statements.length).toBeGreaterThan(5);
    expect(first!.costs).toEqual(['04']);
    for (const other of others) expect(other).toEqual(first);
  });

  it('has the same work for the count of its failures, whether anybody has the name or not', async () => {
    const { host } = at;
    const rows = async (): Promise<number> =>
      Number((await host.dataSource.query('SELECT COUNT(*) AS n FROM auth_login_failures'))[0].n);
    await host.http.post('/auth/login').send({ username: 'alice', password: 'wrong' }).expect(400);
    const known = await rows();
    await host.http.post('/auth/login').send({ username: 'nobody', password: 'wrong' }).expect(400);
    expect(await rows()).toBe(2 * known);
  });
});

stories('the hash that stands in for a missing one', { auth: { bcryptCost: 5 } }, (at: Stage) => {
  it('has the cost of the options', async () => {
    const verify = jest.spyOn(BcryptPasswordHasher.prototype, 'verify');
    await at.host.http.post('/auth/login').send({ username: 'nobody', password: 'wrong' }).expect(400);
    expect(verify.mock.calls.map(([, hash]) => hash.slice(0, 7))).toEqual(['$2b$05$']);
    verify.mockRestore();
  });
});
