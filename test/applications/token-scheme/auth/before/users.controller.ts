import { Body, Controller, Get, HttpCode, Post, Put, UnprocessableEntityException } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { compare, hash } from 'bcrypt';
import { BCRYPT_COST } from '../../config';
import { User } from '../../user.entity';
import { LoginForm, SignUpForm, UserForm } from '../../user-forms';
import { UsersService } from '../../users.service';
import { CurrentUser, LoginRequired } from './token.guard';

@Controller()
export class UsersController {
  constructor(
    private readonly jwts: JwtService,
    private readonly users: UsersService,
  ) {}

  @Post('users')
  async signUp(@Body() { user }: SignUpForm) {
    return this.responseOf(await this.users.create(user));
  }

  @Post('users/login')
  @HttpCode(200)
  async login(@Body() { user: { email, password } }: LoginForm) {
    const found = await this.users.findByEmail(email);
    if (!found || !(await compare(password, found.password))) {
      throw new UnprocessableEntityException({ errors: { 'email or password': ['is invalid'] } });
    }
    return this.responseOf((await this.users.findById(found.id))!);
  }

  @Get('user')
  @LoginRequired()
  current(@CurrentUser() user: User) {
    return this.responseOf(user);
  }

  @Put('user')
  @LoginRequired()
  async change(@Body() { user: { password, ...changes } }: UserForm, @CurrentUser() { id }: User) {
    const hashed = password === undefined ? {} : { password: await hash(password, BCRYPT_COST) };
    return this.responseOf(await this.users.update(id, { ...changes, ...hashed }));
  }

  private responseOf({ id, username, email, bio }: User) {
    return { user: { username, email, bio, token: this.jwts.sign({ id }) } };
  }
}
