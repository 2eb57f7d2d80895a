import { LoginPolicy, type LoginDecision, type ProvenLogin } from 'nestjs-session-auth';

type Decide = LoginPolicy['decide'];

/** A login policy whose decision each test sets. By default, it accepts every login on the terms of the options. */
export class DrivenLoginPolicy extends LoginPolicy {
  readonly asked: { readonly user: object; readonly login: ProvenLogin }[] = [];
  answer: (...args: Parameters<Decide>) => unknown = () => null;

  decide(...args: Parameters<Decide>): ReturnType<Decide> {
    this.asked.push({ user: args[0], login: args[1] });
    return this.answer(...args) as ReturnType<Decide>;
  }

  reset(): void {
    this.asked.length = 0;
    this.answer = () => null;
  }
}

export const SUSPENDED = {
  refuse: { code: 'account_suspended', detail: 'Your account is suspended.' },
} as const satisfies LoginDecision;
