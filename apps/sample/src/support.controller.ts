import { Body, Controller, ForbiddenException, Inject, Injectable, NotFoundException } from '@nestjs/common';
import { Post, Req, UseGuards } from '@nestjs/common';
import {
  type AuthPrincipal,
  type AuthRequest,
  BearerAuthGuard,
  clientInfoOf,
  CurrentPrincipal,
  CurrentUser,
  ImpersonationPolicy,
  type RequestUser,
  SessionAdministration,
} from 'nestjs-session-auth';
import { DataSource } from 'typeorm';
import { SETTINGS } from './page-settings';
import type { Settings } from './read-settings';
import { User } from './user.entity';

/** Administrators of the sample may act as every user who is none. A real application has roles. */
@Injectable()
export class SupportPolicy extends ImpersonationPolicy {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {
    super();
  }

  override isAllowed(administrator: RequestUser, user: RequestUser): boolean {
    const { admins } = this.settings;
    return admins.includes(administrator.username) && !admins.includes(user.username);
  }
}

/** Lets administrators act as another user. The page keeps the token in memory, next to the administrator's session. */
@Controller('support')
@UseGuards(BearerAuthGuard)
export class SupportController {
  constructor(
    private readonly administration: SessionAdministration,
    private readonly dataSource: DataSource,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post('impersonations')
  async impersonate(
    @CurrentPrincipal() administrator: AuthPrincipal,
    @CurrentUser() { username: own }: User,
    @Req() request: AuthRequest,
    @Body() { username, reason = '' }: { username?: string; reason?: string } = {},
  ): Promise<object> {
    // The policy would refuse them too, but only for existing users, so that they could find out who exists.
    if (!this.settings.admins.includes(own)) throw new ForbiddenException();
    const user = await this.dataSource.getRepository(User).findOneBy({ username: String(username) });
    if (!user) throw new NotFoundException('There is no such user.');
    const client = clientInfoOf(request);
    const { accessToken } = await this.administration.impersonate(administrator, user.id, { reason, client });
    return { access_token: accessToken };
  }
}
