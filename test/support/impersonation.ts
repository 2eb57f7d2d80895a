import {
  type AuthPrincipal,
  type Impersonation,
  ImpersonationPolicy,
  SessionAdministration,
} from 'nestjs-session-auth';
import type { LoginAnswer, TestApplication } from './test-application';

/** A policy whose answer each test sets. By default, it allows everything. */
export class DrivenImpersonationPolicy extends ImpersonationPolicy {
  readonly asked: unknown[][] = [];
  answer: () => unknown = () => true;

  isAllowed(...args: unknown[]): boolean {
    this.asked.push(args);
    return this.answer() as boolean;
  }

  reset(): void {
    this.asked.length = 0;
    this.answer = () => true;
  }
}

export interface Impersonated extends Impersonation {
  readonly administrator: LoginAnswer;
  readonly principal: AuthPrincipal;
}

/** Logs alice in, who then acts as bob. */
export async function actAsBob(app: TestApplication, seconds?: number): Promise<Impersonated> {
  const administrator = await app.login();
  const own = await app.principal(administrator.access_token);
  const request = { reason: 'ticket 7', client: { ipAddress: '192.0.2.9', userAgent: 'console' } };
  const opened = await app.nest
    .get(SessionAdministration)
    .impersonate(own, await app.userId('bob'), seconds === undefined ? request : { ...request, seconds });
  return { ...opened, administrator, principal: await app.principal(opened.accessToken) };
}
