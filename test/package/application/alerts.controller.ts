import { Controller, Get } from '@nestjs/common';
import { Alerts } from './alerts.js';

@Controller('alerts')
export class AlertsController {
  constructor(private readonly alerts: Alerts) {}

  @Get()
  list(): Pick<Alerts, 'reuses' | 'ends'> {
    return { reuses: this.alerts.reuses, ends: this.alerts.ends };
  }
}
