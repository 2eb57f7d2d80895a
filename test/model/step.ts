import type { AuthPrincipal, AuthService } from 'nestjs-session-auth';
import * as fc from 'fast-check';
import type { Instance } from './instance';
import type { Model } from './model';
import type { ModelSession, ModelUser } from './state';
import type { World } from './world';

/** Where a step is done, and on what. Numbers choose among what is there when it is done. */
export interface Place {
  readonly at: 0 | 1;
  readonly user: number;
  /** Even: of the sessions that the model takes for active. Odd: of all. */
  readonly session: number;
}

export interface Scene {
  readonly model: Model;
  readonly real: World;
  readonly instance: Instance;
  /** Of the instance in front of which the step is done, and of the other. */
  readonly auth: AuthService;
  readonly otherAuth: AuthService;
  readonly user: ModelUser;
}

export type Deed<Args> = (scene: Scene, args: Args & Place) => Promise<void>;

const place = {
  at: fc.constantFrom(0 as const, 1 as const),
  user: fc.constantFrom(0, 0, 0, 1, 1, 2),
  session: fc.nat({ max: 31 }),
};

/** One action with the library and the model, and the comparison after it. */
class Step<Args> implements fc.AsyncCommand<Model, World> {
  constructor(
    private readonly name: string,
    private readonly args: Args & Place,
    private readonly deed: Deed<Args>,
    private readonly needsSession: boolean,
  ) {}

  check({ sessions }: Readonly<Model>): boolean {
    return !this.needsSession || sessions.length > 0;
  }

  async run(model: Model, real: World): Promise<void> {
    const { at, user } = this.args;
    const [instance, other] = [real.instance(at), real.instance(1 - at)];
    const scene = { model, real, instance, auth: instance.auth, otherAuth: other.auth, user: model.users[user]! };
    await this.deed(scene, this.args);
    await real.compare(model);
  }

  toString(): string {
    return `${this.name}(${JSON.stringify(this.args)})`;
  }
}

/** Steps of one kind: `onSession` ones are left out while there is no session. */
export function stepsOf<Args extends object>(
  name: string,
  args: { [Key in keyof Args]: fc.Arbitrary<Args[Key]> },
  deed: Deed<Args>,
  onSession = false,
): fc.Arbitrary<fc.AsyncCommand<Model, World>> {
  const record = fc.record({ ...place, ...args }, { noNullPrototype: true }) as unknown as fc.Arbitrary<Args & Place>;
  return record.map((given) => new Step<Args>(name, given, deed, onSession));
}

export function sessionAt({ sessions }: Model, { session: number }: Place): ModelSession {
  const active = sessions.filter(({ state }) => state === 'active');
  const choice = number % 2 === 0 && active.length > 0 ? active : sessions;
  return choice[(number >> 1) % choice.length]!;
}

/** Authenticates, with the library and the model. */
export async function authenticated({ auth, model }: Scene, token: string): Promise<AuthPrincipal | null> {
  const principal = await auth.authenticate(token);
  const session = model.authenticate(token);
  expect([principal?.userId, principal?.session.id]).toEqual([session?.user.id, session?.id]);
  return principal;
}

/** What a call gave, or the code of its refusal. */
export async function outcome<T>(call: Promise<T>): Promise<T | string> {
  try {
    return await call;
  } catch (error) {
    const { code } = error as { code?: unknown };
    if ((error as Error).name !== 'AuthError' || typeof code !== 'string') throw error;
    return code;
  }
}
