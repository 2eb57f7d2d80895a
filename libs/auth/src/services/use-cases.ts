import type { HostTransactions } from '../domain/ports/host-transactions';
import type { Metrics } from '../domain/ports/metrics';
import type { UserStore } from '../domain/ports/user-store';
import type { Authentication } from './authentication';
import type { Login } from './login';
import type { Passwords } from './passwords';
import type { Accounts } from './accounts';
import type { ClientInspector } from './client-inspector';
import type { LoginAttempts } from './login-attempts';
import type { NewPassword } from './new-password';
import type { Reauthentication } from './reauthentication';
import type { Refresh } from './refresh';
import type { SessionOpening } from './session-opening';
import type { Sessions } from './sessions';

/** The use cases behind `AuthService`. */
export interface UseCases {
  readonly transactions: HostTransactions;
  readonly login: Login;
  readonly attempts: LoginAttempts;
  readonly refresh: Refresh;
  readonly opening: SessionOpening;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly newPassword: NewPassword;
  readonly reauthentication: Reauthentication;
  readonly accounts: Accounts;
  readonly authentication: Authentication;
  readonly inspector: ClientInspector;
  readonly users: UserStore;
  readonly metrics: Metrics;
}
