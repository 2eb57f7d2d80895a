import { Body, Controller, Inject, Injectable, NotFoundException, Post, Req, UseGuards } from '@nestjs/common';
import {
  type AuthPrincipal,
  type AuthRequest,
  BearerAuthGuard,
  clientInfoOf,
  CurrentPrincipal,
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
  ) {}

  @Post('impersonations')
  async impersonate(
    @CurrentPrincipal() administrator: AuthPrincipal,
    @Body() { username, reason }: { username: string; reason: string },
    @Req() request: AuthRequest,
  ): Promise<object> {
    const user = await this.dataSource.getRepository(User).findOneBy({ username: String(username) });
    if (!user) throw new NotFoundException('There is no such user.');
    const client = clientInfoOf(request);
    const { accessToken } = await this.administration.impersonate(administrator, user.id, { reason, client });
    return { access_token: accessToken };
  }
}
