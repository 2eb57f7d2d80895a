import { Injectable } from '@nestjs/common';
import { Login } from '../credentials/login';
import { LoginTickets } from '../credentials/login-tickets';
import { Authentication } from './authentication';
import { Refresh } from './refresh';
import { UserSessions } from './user-sessions';

/** Groups the services for logins and sessions that `AuthService` calls. */
@Injectable()
export class SessionServices {
  constructor(
    readonly login: Login,
    readonly tickets: LoginTickets,
    readonly refresh: Refresh,
    readonly authentication: Authentication,
    readonly userSessions: UserSessions,
  ) {}
}
