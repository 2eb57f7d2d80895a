import { Controller, Req, Res, ServiceUnavailableException, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, type AuthRequest } from 'nestjs-session-auth';
import type { Observable } from 'rxjs';
import { SessionEvents } from './session-events';

/**
 * The stream of events for an open page. The guard authenticates it once; it closes when its
 * session ends.
 */
@Controller('session-events')
@UseGuards(BearerAuthGuard)
export class SessionEventsController {
  constructor(private readonly events: SessionEvents) {}

  @Sse()
  open(@Req() request: AuthRequest, @Res({ passthrough: true }) response: Response): Observable<MessageEvent> {
    if (this.events.isStopping) {
      // The shutdown waits for open connections.
      response.set('Connection', 'close');
      throw new ServiceUnavailableException();
    }
    return this.events.of(request.auth!);
  }
}
