import { Injectable } from '@nestjs/common';
import { Login } from '../login/login';
import { LoginTickets } from '../login/login-tickets';
import { Authentication } from './authenticate';
import { UserSessions } from './own-sessions';
import { Refresh } from './refresh';

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
