import type { DeviceInfo } from './device';

/** The client of a request. */
export interface ClientInfo {
  /** The IP address, such as `request.ip`. Default: unknown. */
  readonly ipAddress?: string | null;
  /** The `User-Agent` header. Default: unknown. */
  readonly userAgent?: string | null;
}

/** The validated data of a client. Contains only what the options allow to be stored, except for `network`. */
export interface Client {
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
export function cleanUserAgent(text: string): string {
  // Truncated first, because the header may be 16 kB long. `toWellFormed` replaces a surrogate that
  // was cut off from its pair.
  return text
    .slice(0, USER_AGENT_LENGTH * 2)
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH)
    .toWellFormed();
}
