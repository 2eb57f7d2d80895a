import { Controller, Res, ServiceUnavailableException, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, CurrentSession, CurrentUser, type Session } from 'nestjs-session-auth';
import type { Observable } from 'rxjs';
import { SessionEvents } from './session-events';
import { User } from './user.entity';

/** The stream that keeps an open page up to date. The guard lets it in once; it lives as long as its session. */
@Controller('session-events')
@UseGuards(BearerAuthGuard)
export class SessionEventsController {
  constructor(private readonly events: SessionEvents) {}

  @Sse()
  open(
    @CurrentUser() user: User,
    @CurrentSession() session: Session,
    @Res({ passthrough: true }) response: Response,
  ): Observable<MessageEvent> {
    if (this.events.isStopping) {
      // The page has come by a connection that the server waits for.
      response.set('Connection', 'close');
      throw new ServiceUnavailableException();
    }
    return this.events.of(String(user.id), session.id);
  }
}
