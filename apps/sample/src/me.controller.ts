import { Controller, Get, Inject, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentSession, CurrentUser, type SessionInfo } from 'nestjs-session-auth';
import { SETTINGS } from './page-settings';
import type { Settings } from './read-settings';
import { User } from './user.entity';

/** Returns the authenticated user, the id of the session, and what an administrator's page needs to know. */
@Controller('me')
@UseGuards(BearerAuthGuard)
export class MeController {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  @Get()
  me(@CurrentUser() user: User, @CurrentSession() session: SessionInfo): object {
    const isAdmin = this.settings.admins.includes(user.username);
    return { id: user.id, username: user.username, session_id: session.id, ...(isAdmin ? { is_admin: true } : {}) };
  }
}
