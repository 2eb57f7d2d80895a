import { AuthUser } from 'nestjs-session-auth';
import { createDatabase } from '../support/databases';
import { TestApplication, PASSWORD } from '../support/test-application';

const ROUNDS = 300;

/** Prints the median duration of each kind of refused login. This is not a test, because durations vary too much. */
async function main(): Promise<void> {
  const database = await createDatabase('sqlite');
  const auth = { bcryptCost: 10, failedLogins: { throttleFrom: false as const } };
  const app = await TestApplication.start({ database, auth, users: ['alice', 'bob', 'carol'] });
  const users = app.dataSource.getRepository(AuthUser);
  await users.update({ username: 'bob' }, { active: false });
  await users.update({ username: 'carol' }, { passwordHash: null });
  const cases = {
    'a wrong password': { username: 'alice', password: 'wrong' },
    'an unknown name': { username: 'nobody', password: 'wrong' },
    'a disabled user': { username: 'bob', password: PASSWORD },
    'a user without a password': { username: 'carol', password: 'wrong' },
  };
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, credentials] of Object.entries(cases)) {
      const start = process.hrtime.bigint();
      await app.auth.login(credentials).catch(() => undefined);
      times[name]!.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  for (const [name, all] of Object.entries(times)) {
    const sorted = all.sort((a, b) => a - b);
    const at = (share: number): string => sorted[Math.floor(ROUNDS * share)]!.toFixed(2);
    console.log(`${name.padEnd(28)} median ${at(0.5)} ms, quartiles ${at(0.25)} and ${at(0.75)} ms`);
  }
  await app.close();
  await database.drop();
}

void main();
