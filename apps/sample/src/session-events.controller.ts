import { Controller, Res, ServiceUnavailableException, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, CurrentSession, CurrentUser, type SessionInfo } from 'nestjs-session-auth';
import type { Observable } from 'rxjs';
import { SessionEvents } from './session-events';
import { User } from './user.entity';

/**
 * The stream of events for an open page. The guard authenticates it once; it closes when its
 * session ends.
 */
@Controller('session-events')
@UseGuards(BearerAuthGuard)
export class SessionEventsController {
  constructor(private readonly events: SessionEvents) {}

  @Sse()
  open(
    @CurrentUser() user: User,
    @CurrentSession() session: SessionInfo,
    @Res({ passthrough: true }) response: Response,
  ): Observable<MessageEvent> {
    if (this.events.isStopping) {
      // The shutdown waits for open connections.
      response.set('Connection', 'close');
      throw new ServiceUnavailableException();
    }
    return this.events.of(String(user.id), session.id);
  }
}
