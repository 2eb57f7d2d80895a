import type { TestApplication } from '../support/test-application';
import {
  CLIENTS,
  ELSEWHERE,
  HOME,
  scenario,
  symmetric,
  type Fixture,
  type RaceEnvironment,
  type Scenario,
} from './environment';
import { ending, type EndingOperation } from './operations';

/** Races between operations with login tickets, and between proofs of methods for tickets and sessions. */

/** Creates a user with sessions, and a login ticket with one proven method. */
async function newTicket(environment: RaceEnvironment): Promise<Fixture & { readonly ticket: string }> {
  const fixture = await environment.newFixture();
  return { ...fixture, ticket: await environment.apps[0].auth.createLoginTicket(fixture.userId, { methods: ['pwd'] }) };
}

async function methodsOf(app: TestApplication, accessToken: string): Promise<string[]> {
  return Object.keys((await app.principal(accessToken)).methods).sort();
}

export const openingAgainstItself = symmetric(async (environment, both) => {
  const userId = await environment.newUser();
  const ticket = await environment.apps[0].auth.createLoginTicket(userId, { methods: ['pwd'] });
  const outcome = await both((app, index) => app.auth.openSession({ ticket }, CLIENTS[index]));
  const codes = outcome.map(({ value, code }) => (value ? 'opened' : code)).sort();
  expect(codes).toEqual(['invalid_login_ticket', 'opened']);
  expect((await environment.sessionsOf(userId)).map(({ state }) => state)).toEqual(['active']);
  expect((await environment.eventsOf(userId))['login_success']).toBe(1);
});

export const openingAgainstEnd = (operation: EndingOperation): Scenario =>
  scenario(async (environment, race, [app, rival]) => {
    const fixture = await newTicket(environment);
    const { ticket } = fixture;
    const [opened, ended] = await race.run(
      () => app.auth.openSession({ ticket }, HOME),
      () => operation.end(rival, fixture),
    );
    expect(ended.code).toBeUndefined();
    if (opened.value) expect(await rival.auth.authenticate(opened.value.accessToken)).toBeNull();
    else expect(opened.code).toBe('invalid_login_ticket');
    await expect(app.auth.openSession({ ticket })).rejects.toMatchObject({ code: 'invalid_login_ticket' });
  });

export const openingAgainstProof = scenario(async (environment, race, [app, rival]) => {
  const { ticket } = await newTicket(environment);
  const [opened, proved] = await race.run(
    () => app.auth.openSession({ ticket }, HOME),
    () => rival.auth.attempt({ ticket, method: 'otp' }, ELSEWHERE, () => true),
  );
  expect(opened.code).toBeUndefined();
  const methods = await methodsOf(app, opened.value!.accessToken);
  expect(methods).toEqual(proved.value ? ['otp', 'pwd'] : ['pwd']);
  if (!proved.value) expect(proved.code).toBe('invalid_login_ticket');
});

export const openingAgainstOpeningAtTheLimit = symmetric(async (environment, both, [app]) => {
  const { userId, principal, ticket } = await newTicket(environment);
  const tickets = [ticket, await app.auth.createLoginTicket(userId, { methods: ['pwd'] })];
  const outcome = await both((one, index) => one.auth.openSession({ ticket: tickets[index]! }, CLIENTS[index]));
  const codes = outcome.map(({ value, code }) => (value ? 'opened' : code)).sort();
  expect(codes).toEqual(['opened', 'session_limit_reached']);
  await app.auth.logout(principal);
  await app.auth.openSession({ ticket: tickets[outcome[0].value ? 1 : 0]! });
});

export const attemptAgainstAttempt = symmetric(async (environment, both) => {
  const { ticket } = await newTicket(environment);
  await environment.query('UPDATE auth_login_tickets SET failure_count = 4');
  const check = jest.fn(() => false);
  const outcome = await both((app, index) => app.auth.attempt({ ticket, method: 'otp' }, CLIENTS[index], check));
  expect(check).toHaveBeenCalledTimes(1);
  const results = outcome.map(({ value, code }) => value ?? code);
  expect(results).toEqual(expect.arrayContaining([false, 'invalid_login_ticket']));
});

export const proofAgainstProof = symmetric(async (environment, both, [app]) => {
  const { ticket } = await newTicket(environment);
  const outcome = await both((one, index) =>
    one.auth.attempt({ ticket, method: ['otp', 'pin'][index]! }, CLIENTS[index], () => true),
  );
  expect(outcome.map(({ value }) => value)).toEqual([true, true]);
  const { accessToken } = await app.auth.openSession({ ticket });
  expect(await methodsOf(app, accessToken)).toEqual(['otp', 'pin', 'pwd']);
});

export const proofAgainstConfirmation = scenario(async (environment, race, [app, rival]) => {
  const { principal } = await environment.newFixture();
  const [proved, confirmed] = await race.run(
    () => app.auth.attempt({ principal, method: 'otp' }, HOME, () => true),
    () => rival.auth.confirmIdentity(principal, { methods: ['hwk'] }, ELSEWHERE),
  );
  expect(confirmed.code).toBeUndefined();
  const methods = await methodsOf(app, confirmed.value!.accessToken);
  expect(methods).toEqual(proved.value ? ['hwk', 'otp'] : ['hwk']);
  if (!proved.value) expect(proved.code).toBe('access_token_invalid');
});

export const creationAgainstCreation = symmetric(async (environment, both, [app]) => {
  const userId = await environment.newUser();
  const issue = (on: TestApplication): Promise<string> => on.auth.createLoginTicket(userId, { methods: ['pwd'] });
  for (let i = 0; i < 20; i++) await issue(app);
  const outcome = await both(issue);
  expect(outcome.map(({ code }) => code)).toEqual([undefined, undefined]);
  const [row] = await environment.query<{ n: number }>(
    `SELECT COUNT(*) AS n FROM auth_login_tickets WHERE user_id = '${userId}'`,
  );
  expect(Number(row!.n)).toBe(20);
});

const END_OF_TICKETS = [
  'a logout of all sessions',
  'a password change in another session',
  'a password reset',
  'disabling the user',
  'the reuse of an earlier refresh token',
  'the end of all sessions of the user by an administrator',
] as const;

/** Scenarios by test title. */
export const TICKET_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'only one of two openings of a session with a login ticket succeeds': openingAgainstItself,
  'an attempt with a login ticket is refused if a parallel attempt exhausts the ticket': attemptAgainstAttempt,
  'the methods of two parallel proofs for a login ticket are both stored': proofAgainstProof,
  'a proof within a session during a confirmation of the identity is stored or refused': proofAgainstConfirmation,
  'two login tickets that are stored at the same time do not exceed the limit': creationAgainstCreation,
  ...Object.fromEntries(
    END_OF_TICKETS.map((name) => [
      `an opening of a session with a login ticket during ${name} leaves neither the session nor the ticket`,
      openingAgainstEnd(ending(name)),
    ]),
  ),
  'a session opened during the proof of another method has this method': openingAgainstProof,
};
