import { Controller, Get } from '@nestjs/common';
import { Public } from 'nestjs-session-auth';

/** A route that is open to everybody. */
@Controller()
export class WelcomeController {
  @Public()
  @Get()
  welcome(): object {
    return { service: 'nestjs-session-auth sample', log_in_at: '/auth/login/' };
  }
}
