import {
  AuthLoginTicket,
  AuthSession,
  type AuthModuleRootOptions,
  type ClientInfo,
  SecondFactor,
} from 'nestjs-session-auth';
import { CREDENTIALS, type TestApplication } from '../support/test-application';

/** Requires a second factor from the users in `names`. */
class EnrolledUsers extends SecondFactor {
  readonly names = new Set<string>();
  readonly asked: { readonly user: object; readonly client: ClientInfo }[] = [];
  answer: ((required: boolean) => unknown) | null = null;

  isRequired(user: { readonly username: string }, client: ClientInfo): boolean {
    this.asked.push({ user, client });
    const required = this.names.has(user.username);
    return (this.answer ? this.answer(required) : required) as boolean;
  }
}

export const enrolled = new EnrolledUsers();
export const auth: AuthModuleRootOptions = { secondFactor: enrolled, endpoints: { reauthenticate: true } };
export const CLIENT: ClientInfo = { ipAddress: '203.0.113.7', userAgent: 'test' };
export const INVALID_TICKET = { code: 'invalid_login_ticket', message: 'Invalid or expired login ticket.' };
export const REQUIRED = { code: 'second_factor_required' };

export const namesOf = async (app: TestApplication, username = 'alice'): Promise<string[]> =>
  (await app.auth.history(await app.userId(username))).map(({ event }) => event);
export const ticketsOf = (app: TestApplication): Promise<number> =>
  app.dataSource.getRepository(AuthLoginTicket).count();
export const sessionsOf = (app: TestApplication): Promise<number> => app.dataSource.getRepository(AuthSession).count();
export const ticketFor = async (app: TestApplication): Promise<string> =>
  (await app.auth.verifyCredentials(CREDENTIALS)).ticket;
/** Waits until no failure is counted. A response does not wait until a count is taken back. */
export async function noFailures({ dataSource }: TestApplication): Promise<void> {
  const counted = () => dataSource.query('SELECT 1 FROM auth_login_failures WHERE failure_count > 0');
  while ((await counted()).length > 0) await new Promise(setImmediate);
}
export const right = (app: TestApplication, ticket: string, method = 'otp'): Promise<boolean> =>
  app.auth.attempt({ ticket, method }, CLIENT, () => true);
export const wrong = (app: TestApplication, ticket: string, client = CLIENT, method = 'otp'): Promise<boolean> =>
  app.auth.attempt({ ticket, method }, client, () => false);

beforeEach(() => {
  enrolled.names.clear();
  enrolled.asked.length = 0;
  enrolled.answer = null;
});
