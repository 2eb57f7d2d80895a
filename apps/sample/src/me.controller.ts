import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentSession, CurrentUser, type SessionInfo } from 'nestjs-session-auth';
import { User } from './user.entity';

/** Returns the authenticated user and the id of the session. */
@Controller('me')
@UseGuards(BearerAuthGuard)
export class MeController {
  @Get()
  me(@CurrentUser() user: User, @CurrentSession() session: SessionInfo): object {
    return { id: user.id, username: user.username, session_id: session.id };
  }
}
