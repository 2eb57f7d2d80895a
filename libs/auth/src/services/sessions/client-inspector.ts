import { Inject, Injectable, Logger } from '@nestjs/common';
import { cleanUserAgent, type Client, type ClientInfo } from '../../domain/client';
import { checkedDevice, UNKNOWN_DEVICE, type DeviceInfo } from '../../domain/device';
import { toFailureReport } from '../../domain/failure-report';
import { canonicalIp, networkOf } from '../../domain/ip-address';
import { Clock, DeviceDetector } from '../../domain/ports/platform';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';
import { OncePerMinute } from '../../domain/once-per-minute';

/**
 * Validates the address and User-Agent of a client, and detects its device. Drops the values that the options do not
 * track, except for the network.
 */
@Injectable()
export class ClientInspector {
  private readonly logger = new Logger('AuthDevices');
  /** Limits the log, because a detector may fail on every request. */
  private readonly logLimit: OncePerMinute;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    /** Null if the option `deviceDetector` is not set and `ua-parser-js` is not available. */
    @Inject(DeviceDetector) private readonly detector: DeviceDetector | null,
    clock: Clock,
  ) {
    this.logLimit = new OncePerMinute(clock);
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
      recognizable: ipAddress !== null && this.tracksDevices && device !== UNKNOWN_DEVICE,
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
      this.logLimit.run(() => this.logFailure(error));
      return UNKNOWN_DEVICE;
    }
  }

  private logFailure(error: unknown): void {
    const { summary, stack } = toFailureReport(error);
    this.logger.error(
      `The device detector failed, so the device is stored as unknown. This error is logged at most once a minute. ${summary}`,
      stack,
    );
  }
}

/**
 * Returns the value, or an empty string if the value is not a string. Transports other than HTTP may pass any value
 * as a header.
 */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
