import { Controller, Req, Res, ServiceUnavailableException, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
import type { Response } from 'express';
import { BearerAuthGuard, type AuthRequest } from 'nestjs-session-auth';
import { defer, EMPTY, fromEvent, takeUntil, type Observable } from 'rxjs';
import { SessionEvents } from './session-events';

/**
 * Opens the event stream of a page. The guard authenticates the request once, and the stream closes
 * when the session ends. If the page disconnects while the guard runs, no stream is opened, because
 * the `close` event that ends a stream has already been emitted.
 */
@Controller('session-events')
@UseGuards(BearerAuthGuard)
export class SessionEventsController {
  constructor(private readonly events: SessionEvents) {}

  @Sse()
  open(@Req() request: AuthRequest, @Res({ passthrough: true }) response: Response): Observable<MessageEvent> {
    if (this.events.isStopping) {
      // The shutdown waits for open connections, so this one must not be kept alive.
      response.set('Connection', 'close');
      throw new ServiceUnavailableException();
    }
    const events = this.events.of(request.auth!);
    return defer(() => (response.destroyed ? EMPTY : events.pipe(takeUntil(fromEvent(response, 'close')))));
  }
}
