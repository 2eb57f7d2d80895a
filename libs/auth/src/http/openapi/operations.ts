import { HISTORY_LIMIT } from '../../services/sessions';
import { AuthController } from '../auth.controller';
import { PasswordController } from '../password.controller';
import { SessionsController } from '../sessions.controller';
import * as answers from './answers';
import type { Answers } from './answers';
import type { ModelName, Schema } from './models';

/** An endpoint as the document tells of it. */
export interface Operation {
  readonly controller: abstract new (...args: never[]) => object;
  readonly handler: string;
  /** What generated clients call it: part of the contract. */
  readonly id: string;
  readonly summary: string;
  readonly isProtected: boolean;
  readonly body?: { readonly model: ModelName; readonly required: boolean };
  readonly query?: Schema & { readonly name: string };
  readonly parameter?: Schema & { readonly name: string };
  readonly answers: Answers;
}

const { UNREADABLE_BODY, UNAUTHENTICATED, TOO_MANY_ATTEMPTS, UNAVAILABLE } = answers;
const guarded = (own: Answers): Answers => ({ ...answers.badRequest([]), ...UNAUTHENTICATED, ...UNAVAILABLE, ...own });
const body = (model: ModelName, required: boolean = true): NonNullable<Operation['body']> => ({ model, required });

/** The one table of what the document tells. */
export const OPERATIONS: readonly Operation[] = [
  {
    controller: AuthController,
    handler: 'login',
    id: 'authLogin',
    summary: 'Opens a session',
    isProtected: false,
    body: body('AuthLoginRequest'),
    answers: {
      ...answers.done('The session was opened.', 'AuthLoginAnswer'),
      ...answers.badRequest(['username', 'password', 'non_field_errors'], answers.invalid('Invalid credentials.')),
      ...answers.SESSION_LIMIT,
      ...UNREADABLE_BODY,
      ...TOO_MANY_ATTEMPTS,
      ...UNAVAILABLE,
    },
  },
  {
    controller: AuthController,
    handler: 'refresh',
    id: 'authRefresh',
    summary:
      'Exchanges a refresh token for a new token pair; the one that was sent is dead, and a second use ends everything',
    isProtected: false,
    body: body('AuthRefreshRequest'),
    answers: {
      ...answers.done('The new pair.', 'AuthTokenPair'),
      ...answers.badRequest(
        ['refresh_token', 'non_field_errors'],
        answers.invalid('Invalid or expired refresh token.'),
      ),
      ...UNREADABLE_BODY,
      ...UNAVAILABLE,
    },
  },
  {
    controller: AuthController,
    handler: 'logout',
    id: 'authLogout',
    summary: 'Ends the session of this request',
    isProtected: true,
    answers: guarded({ ...answers.doneSaying('Logged out successfully.'), ...UNREADABLE_BODY }),
  },
  {
    controller: AuthController,
    handler: 'logoutAll',
    id: 'authLogoutAll',
    summary: 'Ends all sessions of the user, or all but this one',
    isProtected: true,
    body: body('AuthLogoutAllRequest', false),
    answers: guarded({
      ...answers.doneSaying('Revoked 3 session(s).'),
      ...answers.badRequest(['keep_current']),
      ...answers.RECENT_LOGIN,
      ...UNREADABLE_BODY,
    }),
  },
  {
    controller: SessionsController,
    handler: 'list',
    id: 'authListSessions',
    summary: 'Lists the active sessions of the user, newest first',
    isProtected: true,
    answers: guarded(answers.doneWithList('The sessions.', 'AuthSession')),
  },
  {
    controller: SessionsController,
    handler: 'revoke',
    id: 'authRevokeSession',
    summary: 'Ends one session of the user',
    isProtected: true,
    parameter: { name: 'sessionId', description: 'The `id` of the list.', schema: { type: 'string', format: 'uuid' } },
    answers: guarded({
      ...answers.doneSaying('Session revoked.'),
      ...answers.RECENT_LOGIN,
      ...answers.SESSION_NOT_FOUND,
    }),
  },
  {
    controller: SessionsController,
    handler: 'history',
    id: 'authHistory',
    summary: 'Lists the latest authentication events of the user, newest first',
    isProtected: true,
    query: {
      name: 'limit',
      required: false,
      description: `How many; more than ${HISTORY_LIMIT.max} are ${HISTORY_LIMIT.max}.`,
      schema: { type: 'integer', minimum: 1, default: HISTORY_LIMIT.default },
    },
    answers: guarded({
      ...answers.doneWithList('The events.', 'AuthHistoryEntry'),
      ...answers.badRequest(['limit']),
    }),
  },
  {
    controller: PasswordController,
    handler: 'change',
    id: 'authChangePassword',
    summary: 'Changes the password; this session goes on with the new pair, and the others end',
    isProtected: true,
    body: body('AuthPasswordChangeRequest'),
    answers: guarded({
      ...answers.done('The password is changed; the old tokens are dead.', 'AuthTokenPair'),
      ...answers.badRequest(['current_password', 'new_password']),
      ...UNREADABLE_BODY,
      ...TOO_MANY_ATTEMPTS,
    }),
  },
  {
    controller: PasswordController,
    handler: 'reauthenticate',
    id: 'authReauthenticate',
    summary: 'Proves once more who the user of this session is',
    isProtected: true,
    body: body('AuthReauthenticateRequest'),
    answers: guarded({
      ...answers.doneSaying('Reauthenticated.'),
      ...answers.badRequest(['password']),
      ...UNREADABLE_BODY,
      ...TOO_MANY_ATTEMPTS,
    }),
  },
];
