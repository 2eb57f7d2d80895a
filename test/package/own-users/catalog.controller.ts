import { Body, Controller, Get, HttpException, Post, UseGuards, UsePipes, ValidationPipe } from '@nestjs/common';
import { IsEmail } from 'class-validator';
import { AuthError, BearerAuthGuard, CurrentUser, Public } from 'nestjs-session-auth';

export class Order {
  @IsEmail()
  email!: string;
}

/** Public, except for one method. */
@Public()
@Controller('catalog')
export class CatalogController {
  @Get()
  list(): object {
    return { items: ['book'] };
  }

  @Get('drafts')
  @UseGuards(BearerAuthGuard)
  drafts(@CurrentUser() user: { email: string }): object {
    return { drafts: user.email };
  }
}

/** Extends a public controller, but is not public itself. */
@Controller('archive')
@UseGuards(BearerAuthGuard)
export class ArchiveController extends CatalogController {}

/** Has no guard of its own, and is guarded by the global guard. */
@Controller('bare-archive')
export class BareArchiveController extends CatalogController {}

/** Errors of the application, and an error of the library in a route of the application. */
@Public()
@Controller('errors')
export class ErrorsController {
  @Post('validation')
  @UsePipes(new ValidationPipe())
  order(@Body() order: Order): Order {
    return order;
  }

  @Get('custom')
  custom(): never {
    throw new HttpException({ reason: 'teapot', fields: ['spout'] }, 418);
  }

  @Get('crash')
  crash(): never {
    throw new Error('The ledger is closed.');
  }

  @Get('library')
  library(): never {
    throw new AuthError('session_not_found', 'Session not found.');
  }
}
