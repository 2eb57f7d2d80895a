import { Body, Controller, Delete, Get, Headers, HttpCode, Post, UseGuards } from '@nestjs/common';
import { IsString } from 'class-validator';
import { User } from '../../user.entity';
import { UsersService } from '../../users.service';
import { AuthService } from './auth.service';
import { CurrentUser, JwtAuthGuard } from './jwt-auth.guard';

class LoginForm {
  @IsString() email!: string;
  @IsString() password!: string;
}

@Controller({ path: 'auth', version: '1' })
export class AuthController {
  constructor(
    private readonly auth: AuthService,
    private readonly users: UsersService,
  ) {}

  @Post('email/login')
  @HttpCode(200)
  login(@Body() { email, password }: LoginForm) {
    return this.auth.login(email, password);
  }

  @Post('refresh')
  @HttpCode(200)
  refresh(@Headers('authorization') header = '') {
    return this.auth.refresh(header);
  }

  @Post('logout')
  @HttpCode(204)
  @UseGuards(JwtAuthGuard)
  logout() {
    // The client forgets its tokens.
  }

  @Get('me')
  @UseGuards(JwtAuthGuard)
  me(@CurrentUser() user: User) {
    return user;
  }

  @Delete('me')
  @HttpCode(204)
  @UseGuards(JwtAuthGuard)
  async remove(@CurrentUser() user: User) {
    await this.users.remove(user.id);
  }
}
