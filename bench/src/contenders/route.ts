import { Controller, Get, UseGuards, type CanActivate, type Type } from '@nestjs/common';

/** The response of every contender. */
export const RESPONSE = Object.freeze({ greeting: 'hello' });

/** Creates the measured route, `GET /me`, behind the guards. */
export function routeBehind(...guards: readonly (Type<CanActivate> | CanActivate)[]): Type<object> {
  @Controller('me')
  @UseGuards(...guards)
  class MeController {
    @Get()
    me(): object {
      return RESPONSE;
    }
  }
  return MeController;
}
