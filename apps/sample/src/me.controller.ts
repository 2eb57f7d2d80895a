import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentSession, CurrentUser, type Session } from 'nestjs-session-auth';
import { User } from './user.entity';

/** What a host has the library for: a route that knows who asks. */
@Controller('me')
@UseGuards(BearerAuthGuard)
export class MeController {
  @Get()
  me(@CurrentUser() user: User, @CurrentSession() session: Session): object {
    return { id: user.id, username: user.username, session_id: session.id };
  }
}
