import { Controller, Get, UseGuards } from '@nestjs/common';
import { BearerAuthGuard, CurrentUser } from 'nestjs-session-auth';
import { SecurityAlerts } from './security-alerts';
import { User } from './user.entity';

/** Returns the security alerts of the authenticated user. */
@Controller('security-alerts')
@UseGuards(BearerAuthGuard)
export class SecurityAlertsController {
  constructor(private readonly alerts: SecurityAlerts) {}

  @Get()
  async list(@CurrentUser() user: User): Promise<object[]> {
    const alerts = await this.alerts.of(user.id);
    return alerts.map((alert) => ({
      at: alert.at,
      ip_address: alert.ipAddress,
      session_id: alert.sessionId,
      sessions_ended: alert.sessionsEnded,
    }));
  }
}
