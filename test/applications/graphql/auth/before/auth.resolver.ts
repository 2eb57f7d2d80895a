import { BadRequestException, UnauthorizedException } from '@nestjs/common';
import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { JwtService } from '@nestjs/jwt';
import { compare } from 'bcrypt';
import { Tokens } from '../../models';
import { UsersService } from '../../users.service';

@Resolver()
export class AuthResolver {
  constructor(
    private readonly jwts: JwtService,
    private readonly users: UsersService,
  ) {}

  @Mutation(() => Tokens)
  async signUp(@Args('email') email: string, @Args('password') password: string, @Args('firstName') firstName: string) {
    const { id } = await this.users.create(email, password, firstName);
    return this.tokensOf(id);
  }

  @Mutation(() => Tokens)
  async login(@Args('email') email: string, @Args('password') password: string) {
    const user = await this.users.findByEmail(email);
    if (!user || !(await compare(password, user.password))) throw new BadRequestException('Invalid password');
    return this.tokensOf(user.id);
  }

  @Mutation(() => Tokens)
  async refreshToken(@Args('token') token: string) {
    const claims = await this.jwts.verifyAsync<{ id: string; use: string }>(token).catch(() => null);
    if (claims?.use !== 'refresh') throw new UnauthorizedException();
    return this.tokensOf(claims.id);
  }

  private tokensOf(id: string) {
    return {
      accessToken: this.jwts.sign({ id, use: 'access' }, { expiresIn: '15m' }),
      refreshToken: this.jwts.sign({ id, use: 'refresh' }, { expiresIn: '7d' }),
    };
  }
}
