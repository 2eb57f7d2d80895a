import { Controller, Req, Res, ServiceUnavailableException, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, type AuthRequest } from 'nestjs-session-auth';
import { defer, EMPTY, fromEvent, takeUntil, type Observable } from 'rxjs';
import { SessionEvents } from './session-events';

/**
 * The stream of events for an open page. The guard authenticates it once; it closes when its
 * session ends. A page that has gone while the guard ran gets no stream, which nothing would close.
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
    const events = this.events.of(request.auth!);
    return defer(() => (response.destroyed ? EMPTY : events.pipe(takeUntil(fromEvent(response, 'close')))));
  }
}
