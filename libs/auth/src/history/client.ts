import { Inject, Injectable, Logger } from '@nestjs/common';
import { isIPv4, isIPv6, SocketAddress } from 'node:net';
import { checkedDevice, DeviceDetector, type DeviceInfo, UNKNOWN_DEVICE } from '../adapters/device-detector';
import type { ClientInfo } from '../adapters/second-factor';
import { Clock, OncePerMinute } from '../base/clock';
import { toFailureReport } from '../base/failures';
import type { JoinedTransaction } from '../database/joined-transaction';
import { AUTH_OPTIONS, type ResolvedAuthOptions } from '../options/auth-options';

/** The validated data of a client. Contains only what the options allow to be stored, except for `network`. */
export interface Client {
  /** The values that the caller has passed. */
  readonly info: ClientInfo;
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly device: DeviceInfo;
  /**
   * The network of the client: the IPv4 address or the IPv6 /64, even if addresses are not tracked. Empty if unknown.
   * Only digests of it are stored.
   */
  readonly network: string;
  /** The same as `network`, or empty if addresses are not tracked. Unlike `network`, this value may be stored. */
  readonly trackedNetwork: string;
  /** Whether enough data is available to distinguish a new device from a known device. */
  readonly recognizable: boolean;
}

const USER_AGENT_LENGTH = 500;

/** Returns at most 500 characters of the text, without control characters. */
function cleanUserAgent(text: string): string {
  // Truncated first, because the header may be 16 kB long. `toWellFormed` replaces a surrogate without its pair.
  return text
    .slice(0, USER_AGENT_LENGTH * 2)
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH)
    .toWellFormed();
}

/** Matches the address formats of some proxies: `192.0.2.1:1234`, `[2001:db8::1]:443`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*:[^\]]*)\](?::\d{1,5})?)$/;

/**
 * Returns an IP address in canonical form (RFC 5952), without port and zone id. Returns null if the text is not an IP
 * address. An IPv4-mapped IPv6 address becomes an IPv4 address.
 */
export function canonicalIp(text: string | null | undefined): string | null {
  const address = (text ?? '').replace(WITH_PORT, '$1$2').replace(/%.*$/s, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return null;
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Returns the network of a canonical address: the address itself for IPv4, and its /64 for IPv6. */
export function networkOf(ip: string): string {
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    groups.push(...Array<string>(8 - groups.length - last.length).fill('0'), ...last);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** The client that requested an operation, and the application's transaction that the operation takes part in. */
export interface Operation {
  readonly client: Client;
  readonly tx: JoinedTransaction | null;
}

/**
 * Validates the address and User-Agent of a client, and detects its device. Drops the values that the options do not
 * track, except for the network.
 */
@Injectable()
export class ClientInspector {
  private readonly logger = new Logger('AuthDevices');
  private readonly logLimit;
  private readonly tracksDevices;

  constructor(
    @Inject(AUTH_OPTIONS) private readonly options: ResolvedAuthOptions,
    /** Null if the option `deviceDetector` is not set and `ua-parser-js` is not available. */
    @Inject(DeviceDetector) private readonly detector: DeviceDetector | null,
    clock: Clock,
  ) {
    this.logLimit = new OncePerMinute(clock);
    this.tracksDevices = options.trackUserAgents && options.trackDevices && detector !== null;
  }

  inspect(info: ClientInfo): Client {
    const { trackIps, trackUserAgents } = this.options;
    const ip = canonicalIp(textOf(info.ipAddress));
    const network = ip ? networkOf(ip) : '';
    const ipAddress = trackIps ? ip : null;
    const userAgent = trackUserAgents ? cleanUserAgent(textOf(info.userAgent)) : '';
    const device = this.deviceOf(userAgent);
    return {
      info,
      ipAddress,
      userAgent,
      device,
      network,
      trackedNetwork: trackIps ? network : '',
      recognizable: ipAddress !== null && this.tracksDevices && device !== UNKNOWN_DEVICE,
    };
  }

  private deviceOf(userAgent: string): DeviceInfo {
    if (!this.tracksDevices || userAgent === '') return UNKNOWN_DEVICE;
    try {
      return checkedDevice(this.detector!.detect(userAgent));
    } catch (error) {
      this.logLimit.run(() => {
        const { summary, stack } = toFailureReport(error);
        const effect = 'so the device is stored as unknown. This error is logged at most once a minute.';
        this.logger.error(`The device detector failed, ${effect} ${summary}`, stack);
      });
      return UNKNOWN_DEVICE;
    }
  }
}

/** Returns an empty string for other values, which transports other than HTTP may pass as a header. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
