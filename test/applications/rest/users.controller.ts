import { Body, Controller, Get, Post, UseGuards, Version } from '@nestjs/common';
import { IsEmail, MinLength } from 'class-validator';
import { JwtAuthGuard, Roles, RolesGuard } from './auth';
import { RoleId } from './user.entity';
import { UsersService } from './users.service';

class SignUpForm {
  @IsEmail() email!: string;
  @MinLength(8) password!: string;
}

@Controller({ path: 'users', version: '1' })
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Post()
  signUp(@Body() { email, password }: SignUpForm) {
    return this.users.create(email, password);
  }

  @Get()
  @Roles(RoleId.Admin)
  @UseGuards(JwtAuthGuard, RolesGuard)
  list() {
    return this.users.list();
  }

  @Get()
  @Version('2')
  @Roles(RoleId.Admin)
  @UseGuards(JwtAuthGuard, RolesGuard)
  async page() {
    return { data: await this.users.list(), hasNextPage: false };
  }
}
