import { Inject, Injectable, Logger } from '@nestjs/common';
import { cleanUserAgent, type Client, type ClientInfo } from '../../domain/client';
import { checkedDevice, UNKNOWN_DEVICE, type DeviceInfo } from '../../domain/device';
import { reportFailure } from '../../domain/failure-report';
import { canonicalIp, networkOf } from '../../domain/ip-address';
import { Clock, DeviceDetector } from '../../domain/ports/platform';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { OncePerMinute } from '../../domain/once-per-minute';

/** Validates what a request reports of its client, and drops what is not tracked. */
@Injectable()
export class ClientInspector {
  private readonly logger = new Logger('AuthDevices');
  /** A detector that fails may do so for every request. */
  private readonly limit: OncePerMinute;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    /** Null where no parser is installed. */
    @Inject(DeviceDetector) private readonly detector: DeviceDetector | null,
    clock: Clock,
  ) {
    this.limit = new OncePerMinute(clock);
  }

  inspect(info: ClientInfo): Client {
    const { trackIps, trackUserAgents } = this.options;
    const ip = canonicalIp(textOf(info.ipAddress));
    const network = ip ? networkOf(ip) : '';
    const ipAddress = trackIps ? ip : null;
    const userAgent = trackUserAgents ? cleanUserAgent(textOf(info.userAgent)) : '';
    const device = this.deviceOf(userAgent);
    return {
      ipAddress,
      userAgent,
      device,
      network,
      trackedNetwork: trackIps ? network : '',
      recognisable: ipAddress !== null && this.tracksDevices && device !== UNKNOWN_DEVICE,
    };
  }

  private get tracksDevices(): boolean {
    return this.options.trackUserAgents && this.options.trackDevices && this.detector !== null;
  }

  private deviceOf(userAgent: string): DeviceInfo {
    if (!this.tracksDevices || userAgent === '') return UNKNOWN_DEVICE;
    try {
      return checkedDevice(this.detector!.detect(userAgent));
    } catch (error) {
      this.limit.run(() => this.logFailure(error));
      return UNKNOWN_DEVICE;
    }
  }

  private logFailure(error: unknown): void {
    const { summary, stack } = reportFailure(error);
    this.logger.error(
      `The device detector failed, and the device counts as unknown. Logged once a minute. ${summary}`,
      stack,
    );
  }
}

/** Other transports than HTTP may report headers that are no text. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
