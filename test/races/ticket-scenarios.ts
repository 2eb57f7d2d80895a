import { PASSWORD, type TestApplication } from '../support/test-application';
import type { RaceEnvironment } from './environment';
import { NEW_PASSWORD } from './operations';
import { atEveryCall, instancesFor, interleave, type Scenario } from './scenarios';

/** Races between operations with login tickets, and between proofs of methods for tickets and sessions. */

const CLIENTS = [{ ipAddress: '192.0.2.1' }, { ipAddress: '198.51.100.1' }] as const;

async function newTicket(environment: RaceEnvironment): Promise<{ userId: string; ticket: string }> {
  const userId = await environment.newUser();
  return { userId, ticket: await environment.apps[0].auth.createLoginTicket(userId, { methods: ['pwd'] }) };
}

/** One of two presentations of a ticket opens a session. */
export const ticketAgainstItself: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, ticket } = await newTicket(environment);
    const [open, rival] = instancesFor(environment, setting).map(
      (app, index) => () => app.auth.openSession({ ticket }, CLIENTS[index]),
    );
    const outcome = await interleave(environment, stopAt, setting, open!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ value, code }) => (value ? 'opened' : code)).sort()).toEqual([
      'invalid_login_ticket',
      'opened',
    ]);
    expect((await environment.sessionsOf(userId)).map(({ state }) => state)).toEqual(['active']);
    expect((await environment.eventsOf(userId))['login_success']).toBe(1);
    return true;
  });

/** No session that was opened with a ticket from before a password change outlives the password change. */
export const ticketAgainstChange: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, ticket } = await newTicket(environment);
    const { accessToken } = await environment.open(userId);
    const principal = await environment.principal(accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.openSession({ ticket }, CLIENTS[0]),
      () => rival.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD }, CLIENTS[1]),
    );
    if (!outcome) return false;
    const [opened, changed] = outcome;
    expect(changed.code).toBeUndefined();
    if (opened.value) expect(await rival.auth.authenticate(opened.value.accessToken)).toBeNull();
    else expect(opened.code).toBe('invalid_login_ticket');
    return true;
  });

/** A ticket that was stored before a password change opens no session after the password change. */
export const ticketOutlivesNoChange: Scenario = async (environment) => {
  const { userId, ticket } = await newTicket(environment);
  const [app] = environment.apps;
  const principal = await environment.principal((await environment.open(userId)).accessToken);
  await app.auth.changePassword(principal, { currentPassword: PASSWORD, newPassword: NEW_PASSWORD });
  const code = await app.auth.openSession({ ticket }).then(
    () => 'opened',
    (error: { code: string }) => error.code,
  );
  expect(code).toBe('invalid_login_ticket');
  return 1;
};

/** A logout of all sessions leaves no ticket that was stored before the logout, and no session opened with one. */
export const ticketAgainstLogoutOfAll: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { userId, ticket } = await newTicket(environment);
    const { accessToken } = await environment.open(userId);
    const principal = await environment.principal(accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.openSession({ ticket }, CLIENTS[0]),
      () => rival.auth.logoutAll(principal),
    );
    if (!outcome) return false;
    const [opened, ended] = outcome;
    expect(ended.code).toBeUndefined();
    // A session that is opened after the logout would require a ticket from before the logout.
    if (opened.value) expect(await rival.auth.authenticate(opened.value.accessToken)).toBeNull();
    else expect(opened.code).toBe('invalid_login_ticket');
    return true;
  });

/** If a ticket allows one more attempt, one of two attempts is accepted. */
export const attemptAgainstAttempt: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { ticket } = await newTicket(environment);
    const [app] = environment.apps;
    await app.dataSource.query('UPDATE auth_login_tickets SET failure_count = 4');
    let checks = 0;
    const check = (): boolean => {
      checks++;
      return false;
    };
    const [attempt, rival] = instancesFor(environment, setting).map(
      (one, index) => () => one.auth.attempt({ ticket, method: 'otp' }, CLIENTS[index]!, check),
    );
    const outcome = await interleave(environment, stopAt, setting, attempt!, rival!);
    if (!outcome) return false;
    expect(checks).toBe(1);
    expect(outcome.map(({ value, code }) => value ?? code)).toEqual(
      expect.arrayContaining([false, 'invalid_login_ticket']),
    );
    return true;
  });

/** If two methods are proven for a ticket, both methods are stored. */
export const proofAgainstProof: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { ticket } = await newTicket(environment);
    const [attempt, rival] = instancesFor(environment, setting).map(
      (app, index) => () => app.auth.attempt({ ticket, method: ['otp', 'pin'][index]! }, CLIENTS[index]!, () => true),
    );
    const outcome = await interleave(environment, stopAt, setting, attempt!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ value }) => value)).toEqual([true, true]);
    const { accessToken } = await environment.apps[0].auth.openSession({ ticket });
    const { methods } = await environment.principal(accessToken);
    expect(Object.keys(methods).sort()).toEqual(['otp', 'pin', 'pwd']);
    return true;
  });

/** A method that is proven within a session during a call of `confirmIdentity` is stored, or its proof is refused. */
export const proofAgainstConfirmation: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const { session } = await environment.newFixture();
    const principal = await environment.principal(session.accessToken);
    const [app, rival] = instancesFor(environment, setting);
    const outcome = await interleave(
      environment,
      stopAt,
      setting,
      () => app.auth.attempt({ principal, method: 'otp' }, CLIENTS[0], () => true),
      () => rival.auth.confirmIdentity(principal, { methods: ['hwk'] }, CLIENTS[1]),
    );
    if (!outcome) return false;
    const [proved, confirmed] = outcome;
    expect(confirmed.code).toBeUndefined();
    const { methods } = await environment.principal(confirmed.value!.accessToken);
    expect(Object.keys(methods).sort()).toEqual(proved.value ? ['hwk', 'otp'] : ['hwk']);
    if (!proved.value) expect(proved.code).toBe('access_token_invalid');
    return true;
  });

/** Two tickets that are stored at the same time do not exceed the limit. */
export const creationAgainstCreation: Scenario = (environment, setting) =>
  atEveryCall(async (stopAt) => {
    const userId = await environment.newUser();
    const issue = (app: TestApplication): Promise<string> => app.auth.createLoginTicket(userId, { methods: ['pwd'] });
    for (let i = 0; i < 20; i++) await issue(environment.apps[0]);
    const [create, rival] = instancesFor(environment, setting).map((app) => () => issue(app));
    const outcome = await interleave(environment, stopAt, setting, create!, rival!);
    if (!outcome) return false;
    expect(outcome.map(({ code }) => code)).toEqual([undefined, undefined]);
    const [row] = await environment.apps[0].dataSource.query<{ n: number }[]>(
      `SELECT COUNT(*) AS n FROM auth_login_tickets WHERE user_id = '${userId}'`,
    );
    expect(Number(row?.n)).toBe(20);
    return true;
  });

export const TICKET_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'an opening of a session with a ticket during an opening with the same ticket': ticketAgainstItself,
  'an opening of a session with a ticket during a password change': ticketAgainstChange,
  'an opening of a session with a ticket during a logout of all': ticketAgainstLogoutOfAll,
  'an attempt during another attempt that exhausts the ticket': attemptAgainstAttempt,
  'a proof of a method during the proof of another method': proofAgainstProof,
  'a proof within a session during a confirmation of the identity': proofAgainstConfirmation,
  'storing a ticket at the limit while another ticket is stored': creationAgainstCreation,
};
