import { AuthEvent } from './auth-event.entity';
import { AuthLoginFailure } from './auth-login-failure.entity';
import { AuthLoginTicket } from './auth-login-ticket.entity';
import { AuthPasswordReset } from './auth-password-reset.entity';
import { AuthSession } from './auth-session.entity';
import { AuthUserLock } from './auth-user-lock.entity';
import { AuthUser } from './auth-user.entity';

type EntityClass = new () => object;

/** All entities of the library except `AuthUser`, for an application with its own users. */
export const AUTH_ENTITIES_WITHOUT_USERS: readonly EntityClass[] = Object.freeze([
  AuthSession,
  AuthEvent,
  AuthLoginFailure,
  AuthLoginTicket,
  AuthPasswordReset,
  AuthUserLock,
]);

/** All entities of the library, for the option `entities` of your DataSource. */
export const AUTH_ENTITIES: readonly EntityClass[] = Object.freeze([...AUTH_ENTITIES_WITHOUT_USERS, AuthUser]);

export { AuthEvent, AuthLoginFailure, AuthLoginTicket, AuthPasswordReset, AuthSession, AuthUser, AuthUserLock };
