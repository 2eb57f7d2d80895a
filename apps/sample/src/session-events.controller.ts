import { Controller, Sse, UseGuards, type MessageEvent } from '@nestjs/common';
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
  open(@CurrentUser() user: User, @CurrentSession() session: Session): Observable<MessageEvent> {
    return this.events.of(String(user.id), session.id);
  }
}
