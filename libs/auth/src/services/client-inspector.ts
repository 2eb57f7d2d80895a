import { cleanUserAgent, type Client, type ClientInfo } from '../domain/client';
import { UNKNOWN_DEVICE, type Device } from '../domain/device';
import { canonicalIp, networkOf } from '../domain/ip-address';
import type { DeviceDetector } from '../domain/ports/device-detector';
import type { ResolvedAuthOptions } from '../options/auth-options';

/** Makes of what a request says about its client what may be stored of it. */
export class ClientInspector {
  constructor(
    private readonly options: ResolvedAuthOptions,
    /** Null where nothing can tell devices. */
    private readonly detector: DeviceDetector | null,
  ) {}

  inspect(info: ClientInfo): Client {
    const { trackIps, trackUserAgents } = this.options;
    const ipAddress = trackIps ? canonicalIp(info.ipAddress) : null;
    const userAgent = trackUserAgents ? cleanUserAgent(info.userAgent ?? '') : '';
    const device = this.deviceOf(userAgent);
    return {
      ipAddress,
      userAgent,
      device,
      network: ipAddress ? networkOf(ipAddress) : '',
      recognisable: ipAddress !== null && this.tracksDevices && device !== UNKNOWN_DEVICE,
    };
  }

  /** The network that failed logins are counted by, whether addresses are tracked or not. */
  networkOf(info: ClientInfo): string {
    const ip = canonicalIp(info.ipAddress);
    return ip ? networkOf(ip) : '';
  }

  private get tracksDevices(): boolean {
    return this.options.trackUserAgents && this.options.trackDevices && this.detector !== null;
  }

  private deviceOf(userAgent: string): Device {
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
