import { Controller, Get, Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';

/** Listens to signals with `@OnEvent` and with the library's own decorator. */
@Injectable()
export class Alerts {
  readonly reuses: { session_id: string; sessions_ended: number }[] = [];
  readonly ends: string[] = [];

  @OnEvent('token_reuse_detected')
  warn({ session, sessionsEnded }: AuthSignals['token_reuse_detected']): void {
    this.reuses.push({ session_id: session.id, sessions_ended: sessionsEnded });
  }

  @OnAuthSignal('user_logged_out')
  note({ reason }: AuthSignals['user_logged_out']): void {
    this.ends.push(reason);
  }
}

@Controller('alerts')
export class AlertsController {
  constructor(private readonly alerts: Alerts) {}

  @Get()
  list(): Pick<Alerts, 'reuses' | 'ends'> {
    return { reuses: this.alerts.reuses, ends: this.alerts.ends };
  }
}
