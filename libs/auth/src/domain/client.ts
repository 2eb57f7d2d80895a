import type { DeviceInfo } from './device';

/** Where a request came from, as the application's platform reports it. */
export interface ClientInfo {
  /** `request.ip`, or nothing where it is not known. */
  readonly ipAddress?: string | null;
  /** The `User-Agent` header, or nothing. */
  readonly userAgent?: string | null;
}

/** A client as it may be stored: valid, bounded, and without what is not tracked. */
export interface Client {
  readonly ipAddress: string | null;
  readonly userAgent: string;
  readonly device: DeviceInfo;
  /** The address prefix, IPv4 /32 or IPv6 /64, tracked or not; empty if unknown. Never stored. */
  readonly network: string;
  /** The same as it may be stored: empty where addresses are not tracked. */
  readonly trackedNetwork: string;
  /** Whether enough is tracked to tell a new device from a known one. */
  readonly recognisable: boolean;
}

const USER_AGENT_LENGTH = 500;

/** The text without control characters, and at most 500 characters of it. */
export function cleanUserAgent(text: string): string {
  // Cut first: the header may be 16 kB long, and a cut inside a surrogate pair must not leave half of it.
  return text
    .slice(0, USER_AGENT_LENGTH * 2)
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH)
    .toWellFormed();
}
