import { Injectable } from '@nestjs/common';
import { Login } from '../credentials/login';
import { LoginTickets } from '../credentials/login-tickets';
import { Authentication } from './authentication';
import { Refresh } from './refresh';
import { UserSessions } from './user-sessions';

/** The use cases of sessions, grouped for `AuthService`. */
@Injectable()
export class SessionServices {
  constructor(
    readonly login: Login,
    readonly tickets: LoginTickets,
    readonly refresh: Refresh,
    readonly authentication: Authentication,
    readonly ofUser: UserSessions,
  ) {}
}
