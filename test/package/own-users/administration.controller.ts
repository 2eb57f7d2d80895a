import {
  Body,
  CanActivate,
  Controller,
  Delete,
  ExecutionContext,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Put,
  Query,
  UseGuards,
} from '@nestjs/common';
import {
  AuthService,
  BearerAuthGuard,
  SessionAdministration,
  type AuthRequest,
  type SessionFilter,
} from 'nestjs-session-auth';
import { People } from './people.js';

export const ADMINISTRATOR = 'carol@admin.example';

@Injectable()
export class AdministratorGuard implements CanActivate {
  constructor(private readonly auth: AuthService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { auth: principal } = context.switchToHttp().getRequest<AuthRequest>();
    const user = (await this.auth.loadUser(principal!)) as { email: string };
    if (user.email !== ADMINISTRATOR) throw new ForbiddenException('Administrators only.');
    return true;
  }
}

/** For carol only: the sessions of all users, and the users in the application's table. */
@Controller('admin')
@UseGuards(BearerAuthGuard, AdministratorGuard)
export class AdministrationController {
  constructor(
    private readonly auth: AuthService,
    private readonly administration: SessionAdministration,
    private readonly people: People,
  ) {}

  @Get('sessions')
  async list(
    @Query('user_id') userId: string,
    @Query('limit') limit: string,
    @Query('after') after?: string,
  ): Promise<object> {
    const page = { limit: Number(limit), ...(after === undefined ? {} : { after }) };
    const { items, next } = await this.administration.list({ userId: Number(userId) }, page);
    return { ids: items.map(({ id }) => id), next };
  }

  @Post('sessions/end')
  @HttpCode(200)
  async end(@Body() filter: SessionFilter): Promise<object> {
    return { ended: await this.administration.end(filter, { actor: 'carol' }) };
  }

  /** Opens this many sessions of one user, as a script with the user's password could. */
  @Post('sessions/open')
  @HttpCode(200)
  async open(@Body() { user_id, count }: { user_id: number | string; count: number }): Promise<object> {
    for (let opened = 0; opened < count; opened++) await this.auth.openSession(user_id);
    return { opened: count };
  }

  @Post('users/:id/disable')
  @HttpCode(200)
  async disable(@Param('id', ParseIntPipe) id: number): Promise<object> {
    await this.auth.disableUser(id);
    return { disabled: id };
  }

  @Post('users/:id/enable')
  @HttpCode(200)
  async enable(@Param('id', ParseIntPipe) id: number): Promise<object> {
    await this.auth.enableUser(id);
    return { enabled: id };
  }

  /** Writes to the table without calling the library. */
  @Put('users/:id')
  async mark(
    @Param('id', ParseIntPipe) id: number,
    @Body() { blocked, deleted }: { blocked?: boolean; deleted?: boolean },
  ): Promise<object> {
    if (blocked !== undefined) await this.people.setBlocked(id, blocked);
    if (deleted !== undefined) await this.people.setDeleted(id, deleted);
    return { marked: id };
  }

  @Delete('users/:id')
  async remove(@Param('id', ParseIntPipe) id: number): Promise<object> {
    await this.people.remove(id);
    return { removed: id };
  }

  /** Reuses an id, after the call that the documentation requires. */
  @Post('users/:id')
  async insert(
    @Param('id', ParseIntPipe) id: number,
    @Body() { email, password }: { email: string; password: string },
  ): Promise<object> {
    await this.auth.forgetUser(id);
    await this.people.insert(id, email, await this.auth.hashPassword(password));
    return { inserted: id };
  }
}
