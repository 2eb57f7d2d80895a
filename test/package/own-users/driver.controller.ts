import { Body, Controller, Get, HttpCode, Injectable, Post } from '@nestjs/common';
import { AuthEvent, AuthLoginFailure, PruningService, Public } from 'nestjs-session-auth';
import { DrivenClock, type SignalRecorder } from 'nestjs-session-auth/testing';
import { DataSource, IsNull } from 'typeorm';

/** The signals of the process, which `main.ts` records. */
@Injectable()
export class Recording {
  signals: SignalRecorder | null = null;
}

/** For tests only: moves the clock, prunes, and returns signals and row counts. */
@Public()
@Controller('driver')
export class DriverController {
  constructor(
    private readonly clock: DrivenClock,
    private readonly recording: Recording,
    private readonly pruning: PruningService,
    private readonly dataSource: DataSource,
  ) {}

  @Post('clock')
  @HttpCode(200)
  advance(@Body() { seconds }: { seconds: number }): object {
    this.clock.advance(seconds * 1000);
    return { now: this.clock.now() };
  }

  @Post('prune')
  @HttpCode(200)
  async prune(): Promise<object> {
    return { events: (await this.pruning.prune()).events };
  }

  @Get('signals')
  read(): object {
    const signals = [...this.recording.signals!.all];
    this.recording.signals!.clear();
    return signals;
  }

  @Get('rows')
  async rows(): Promise<object> {
    const failures = await this.dataSource.getRepository(AuthLoginFailure).count();
    return { failures, events: await this.dataSource.getRepository(AuthEvent).countBy({ userId: IsNull() }) };
  }
}
