import { Controller, Get, UseGuards, type CanActivate, type Type } from '@nestjs/common';

/** What every contender answers, once its guard has let the request pass. */
export const ANSWER = Object.freeze({ greeting: 'hello' });

/** The one route that is measured: `GET /me`. */
export function routeBehind(...guards: readonly (Type<CanActivate> | CanActivate)[]): Type<object> {
  @Controller('me')
  @UseGuards(...guards)
  class MeController {
    @Get()
    me(): object {
      return ANSWER;
    }
  }
  return MeController;
}
