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
  /** Found by its class: Nest has it only where the module and this file have the same one. */
  constructor(private readonly auth: AuthService) {}

  @Get()
  me(@CurrentUser() user: AuthUser, @CurrentSession() session: SessionInfo): object {
    return { username: user.username, session_id: session.id, has_service: this.auth instanceof AuthService };
  }
}
