import type { INestApplication } from '@nestjs/common';
import { AuthService, AuthUser } from 'nestjs-session-auth';
import { actingAs, CheapPasswordHasher, Clock, DrivenClock, recordSignals } from 'nestjs-session-auth/testing';

/** Uses each export of the testing kit. Throws if one does not behave as documented. */
export async function tryTestingKit(app: INestApplication, user: AuthUser): Promise<void> {
  const signals = recordSignals(app);
  const acting = await actingAs(app, user);
  const principal = await app.get(AuthService).authenticate(acting.accessToken);
  expect(principal?.sessionId === acting.sessionId, 'actingAs() opens a session');
  expect(signals.of('user_logged_in').length === 1, 'recordSignals() records');
  expect(app.get(Clock, { strict: false }) instanceof Clock, 'Clock is the class that the module provides');
  const clock = new DrivenClock(0);
  clock.advance(5);
  expect(clock.now() === 5, 'DrivenClock moves');
  const hasher = new CheapPasswordHasher();
  expect(await hasher.verify('secret', await hasher.hash('secret')), 'CheapPasswordHasher verifies');
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`It does not hold that ${what}.`);
}
