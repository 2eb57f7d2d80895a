import { SessionAdministration, type ClientInfo } from 'nestjs-session-auth';
import type { Fixture, RaceEnvironment } from './environment';
import { ENDING_OPERATIONS, REUSE, type EndingOperation } from './operations';
import { atEveryCall, instancesFor, interleave, type Scenario } from './scenarios';

/** Races between login tickets and operations that end tickets, and between session openings and their conditions. */

/** Clients in two networks, because attempts from one network wait for each other within a process. */
const CLIENTS: readonly [ClientInfo, ClientInfo] = [{ ipAddress: '192.0.2.1' }, { ipAddress: '198.51.100.1' }];

const BY_ADMINISTRATOR: EndingOperation = {
  name: 'the end of all sessions of the user by an administrator',
  endsOther: true,
  prepare:
    async ({ userId }, app) =>
    () =>
      app.nest.get(SessionAdministration).end({ userId }, { actor: 'carol' }),
};

const named = (...names: string[]): EndingOperation[] => ENDING_OPERATIONS.filter(({ name }) => names.includes(name));

/** Creates a user with sessions, and a login ticket with one proven method. */
async function newTicket(environment: RaceEnvironment): Promise<{ fixture: Fixture; ticket: string }> {
  const fixture = await environment.newFixture();
  return { fixture, ticket: await environment.apps[0].auth.createLoginTicket(fixture.userId, { methods: ['pwd'] }) };
}

async function expectNoTicket({ environment, userId }: Fixture, ticket: string): Promise<void> {
  const [row] = await environment.apps[0].dataSource.query<{ n: number }[]>(
    `SELECT COUNT(*) AS n FROM auth_login_tickets WHERE user_id = '${userId}'`,
  );
  expect(Number(row?.n)).toBe(0);
  await expect(environment.apps[0].auth.openSession({ ticket })).rejects.toMatchObject({
    code: 'invalid_login_ticket',
  });
}

/** In either order, the ticket has ended, and no session that was opened with it is left. */
const openingAgainstEnd =
  (operation: EndingOperation): Scenario =>
  (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const { fixture, ticket } = await newTicket(environment);
      const [app, rival] = instancesFor(environment, setting);
      const end = await operation.prepare(fixture, rival);
      const open = () => app.auth.openSession({ ticket }, CLIENTS[0]);
      const outcome = await interleave(environment, stopAt, setting, open, end);
      if (!outcome) return false;
      const [opened, ended] = outcome;
      expect(ended.code).toBeUndefined();
      if (opened.value) expect(await rival.auth.authenticate(opened.value.accessToken)).toBeNull();
      else expect(opened.code).toBe('invalid_login_ticket');
      await expectNoTicket(fixture, ticket);
      return true;
    });

/** In either order, the ticket has ended, and a successful attempt does not restore it. */
const attemptAgainstEnd =
  (operation: EndingOperation): Scenario =>
  (environment, setting) =>
    atEveryCall(async (stopAt) => {
      const { fixture, ticket } = await newTicket(environment);
      const [app, rival] = instancesFor(environment, setting);
      const end = await operation.prepare(fixture, rival);
      const attempt = () => app.auth.attempt({ ticket, method: 'otp' }, CLIENTS[0], () => true);
      const outcome = await interleave(environment, stopAt, setting, attempt, end);
      if (!outcome) return false;
      const [attempted, ended] = outcome;
      expect(ended.code).toBeUndefined();
      expect([true, 'invalid_login_ticket']).toContain(attempted.value ?? attempted.code);
      await expectNoTicket(fixture, ticket);
      return true;
    });

/** A method that was proven before the session opens is one of the session's methods. */
export const openingAgainstProof: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { ticket } = await newTicket(environment);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.openSession({ ticket }, CLIENTS[0]),
      () => rival.auth.attempt({ ticket, method: 'otp' }, CLIENTS[1], () => true),
    );
    if (!outcome) return false;
    const [opened, proved] = outcome;
    expect(opened.code).toBeUndefined();
    const { methods } = await environment.principal(opened.value!.accessToken);
    expect(Object.keys(methods).sort()).toEqual(proved.value ? ['otp', 'pwd'] : ['pwd']);
    if (!proved.value) expect(proved.code).toBe('invalid_login_ticket');
    return true;
  });

/** If one slot is free, one of two openings is refused, and the ticket of that opening stays valid. */
export const openingAgainstOpeningAtTheLimit: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { fixture, ticket } = await newTicket(environment);
    const { userId, session } = fixture;
    const [app, rival] = instancesFor(environment, setting);
    const second = await app.auth.createLoginTicket(userId, { methods: ['pwd'] });
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.openSession({ ticket }, CLIENTS[0]),
      () => rival.auth.openSession({ ticket: second }, CLIENTS[1]),
    );
    if (!outcome) return false;
    expect(outcome.map(({ value, code }) => (value ? 'opened' : code)).sort()).toEqual([
      'opened',
      'session_limit_reached',
    ]);
    const refused = outcome[0].value ? second : ticket;
    await app.auth.logout(await environment.principal(session.accessToken));
    await app.auth.openSession({ ticket: refused });
    return true;
  });

/** Scenarios by test title. Races that do not end a ticket are in `TICKET_SCENARIOS`. */
export const TICKET_ENDS: Readonly<Record<string, Scenario>> = Object.fromEntries([
  ...[...named('a password reset', 'disabling the user'), REUSE, BY_ADMINISTRATOR].map((operation) => [
    `an opening of a session with a ticket during ${operation.name} leaves neither the session nor the ticket`,
    openingAgainstEnd(operation),
  ]),
  ...named('a logout of all sessions', 'a password change in another session').map((operation) => [
    `an attempt with a ticket during ${operation.name} leaves no ticket`,
    attemptAgainstEnd(operation),
  ]),
]) as Record<string, Scenario>;
