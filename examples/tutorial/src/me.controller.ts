import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentUser, type AuthUser } from 'nestjs-session-auth';

@Controller('me')
@UseGuards(BearerAuthGuard)
export class MeController {
  @Get()
  me(@CurrentUser() user: AuthUser) {
    return { id: user.id, username: user.username };
  }
}
