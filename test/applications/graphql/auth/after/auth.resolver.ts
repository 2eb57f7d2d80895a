import { UnauthorizedException } from '@nestjs/common';
import { Args, Context, Mutation, Resolver } from '@nestjs/graphql';
import { Request } from 'express';
import { AuthError, AuthService, clientInfoOf } from 'nestjs-session-auth';
import { Tokens } from '../../models';
import { UsersService } from '../../users.service';

@Resolver()
export class AuthResolver {
  constructor(
    private readonly auth: AuthService,
    private readonly users: UsersService,
  ) {}

  @Mutation(() => Tokens)
  async signUp(
    @Args('email') email: string,
    @Args('password') password: string,
    @Args('firstName') firstName: string,
    @Context('req') request: Request,
  ) {
    return this.auth.openSession(await this.users.create(email, password, firstName), clientInfoOf(request));
  }

  @Mutation(() => Tokens)
  login(@Args('email') email: string, @Args('password') password: string, @Context('req') request: Request) {
    return this.auth.login({ username: email, password }, clientInfoOf(request));
  }

  @Mutation(() => Tokens)
  refreshToken(@Args('token') token: string, @Context('req') request: Request) {
    return this.auth.refresh(token, clientInfoOf(request)).catch(asUnauthenticated);
  }
}

/** The clients ask for a login when a refresh is refused with `UNAUTHENTICATED`. */
function asUnauthenticated(error: unknown): never {
  throw error instanceof AuthError && error.code === 'invalid_refresh_token' ? new UnauthorizedException() : error;
}
