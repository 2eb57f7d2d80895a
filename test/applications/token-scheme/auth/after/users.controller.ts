import {
  Body,
  Controller,
  Get,
  HttpCode,
  Post,
  Put,
  Req,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { Request } from 'express';
import { AuthError, AuthService, BearerAuthGuard, clientInfoOf, CurrentUser } from 'nestjs-session-auth';
import { User } from '../../user.entity';
import { LoginForm, SignUpForm, UserForm } from '../../user-forms';
import { UsersService } from '../../users.service';
import { tokenOf } from './token-scheme';

@Controller()
export class UsersController {
  constructor(
    private readonly auth: AuthService,
    private readonly users: UsersService,
  ) {}

  @Post('users')
  async signUp(@Body() { user }: SignUpForm, @Req() request: Request) {
    return this.signedIn(await this.users.create(user), request);
  }

  @Post('users/login')
  @HttpCode(200)
  async login(@Body() { user: { email, password } }: LoginForm, @Req() request: Request) {
    const opened = await this.auth.login({ username: email, password }, clientInfoOf(request)).catch(inOwnWords);
    return responseOf((await this.users.findById(Number(opened.userId)))!, opened.accessToken);
  }

  @Get('user')
  @UseGuards(BearerAuthGuard)
  current(@CurrentUser() user: User, @Req() request: Request) {
    return responseOf(user, tokenOf(request)!);
  }

  @Put('user')
  @UseGuards(BearerAuthGuard)
  async change(
    @Body() { user: { password, ...changes } }: UserForm,
    @CurrentUser() { id }: User,
    @Req() request: Request,
  ) {
    const user = await this.users.update(id, changes);
    if (password === undefined) return responseOf(user, tokenOf(request)!);
    // Ends all sessions of the user.
    await this.auth.resetPassword(id, password, clientInfoOf(request));
    return this.signedIn(user, request);
  }

  private async signedIn(user: User, request: Request) {
    const { accessToken } = await this.auth.openSession(user, clientInfoOf(request));
    return responseOf(user, accessToken);
  }
}

function responseOf({ username, email, bio }: User, token: string) {
  return { user: { username, email, bio, token } };
}

function inOwnWords(error: unknown): never {
  if (!(error instanceof AuthError) || error.code !== 'invalid_credentials') throw error;
  throw new UnprocessableEntityException({ errors: { 'email or password': ['is invalid'] } });
}
