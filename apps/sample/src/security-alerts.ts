import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { OnAuthSignal, type AuthSignals } from 'nestjs-session-auth';
import { Repository } from 'typeorm';
import { SecurityAlert } from './security-alert.entity';

/** Stores an alert when token reuse is detected. A real application would also send an email. */
@Injectable()
export class SecurityAlerts {
  constructor(@InjectRepository(SecurityAlert) private readonly alerts: Repository<SecurityAlert>) {}

  @OnAuthSignal('token_reuse_detected')
  async store({ userId, session, ipAddress, sessionsEnded }: AuthSignals['token_reuse_detected']): Promise<void> {
    const at = new Date().toISOString();
    await this.alerts.insert({ userId: Number(userId), at, ipAddress, sessionId: session.id, sessionsEnded });
  }

  /** Returns the alerts of a user, newest first. */
  of(userId: number): Promise<SecurityAlert[]> {
    return this.alerts.find({ where: { userId }, order: { id: 'DESC' } });
  }
}
