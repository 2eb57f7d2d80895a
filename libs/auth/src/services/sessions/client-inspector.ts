import { Inject, Injectable } from '@nestjs/common';
import { cleanUserAgent, type Client, type ClientInfo } from '../../domain/client';
import { UNKNOWN_DEVICE, type DeviceInfo } from '../../domain/device';
import { canonicalIp, networkOf } from '../../domain/ip-address';
import { DeviceDetector } from '../../domain/ports/platform';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../../options/auth-options';

/** Validates what a request reports of its client, and drops what is not tracked. */
@Injectable()
export class ClientInspector {
  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    /** Null where no parser is installed. */
    @Inject(DeviceDetector) private readonly detector: DeviceDetector | null,
  ) {}

  inspect(info: ClientInfo): Client {
    const { trackIps, trackUserAgents } = this.options;
    const ip = canonicalIp(info.ipAddress);
    const network = ip ? networkOf(ip) : '';
    const ipAddress = trackIps ? ip : null;
    const userAgent = trackUserAgents ? cleanUserAgent(info.userAgent ?? '') : '';
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
      const found = this.detector!.detect(userAgent);
      return {
        deviceType: found.deviceType,
        osFamily: found.osFamily.slice(0, 64),
        browserFamily: found.browserFamily.slice(0, 64),
        deviceName: found.deviceName.slice(0, 64),
      };
    } catch {
      return UNKNOWN_DEVICE;
    }
  }
}
