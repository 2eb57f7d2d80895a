import { Controller, Get, UseGuards } from '@nestjs/common';
import {
  AuthService,
  BearerAuthGuard,
  CurrentSession,
  CurrentUser,
  type AuthUser,
  type SessionInfo,
} from 'nestjs-session-auth';

@Controller('me')
@UseGuards(BearerAuthGuard)
export class MeController {
  /** Nest finds the service by its class only if the module and this file load the same class. */
  constructor(private readonly auth: AuthService) {}

  @Get()
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { username: user.username, session_id: session.id, has_service: this.auth instanceof AuthService };
  }
}
