import type { Device } from './device';

/** Where a request came from, as the host's platform tells it. */
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
  readonly device: Device;
  /** The address prefix that failed logins are counted by: IPv4 /32, IPv6 /64; empty where there is none. */
  readonly network: string;
  /** Whether enough is tracked to tell a new device from a known one. */
  readonly recognisable: boolean;
}

/** The most of a User-Agent that is looked at or stored. */
export const USER_AGENT_LENGTH = 500;

/** The text without control characters, and at most 500 characters of it. */
export function cleanUserAgent(text: string): string {
  // Cut first: the header may be 16 kB long, and a cut inside a surrogate pair must not leave half of it.
  return text
    .slice(0, USER_AGENT_LENGTH * 2)
    .replace(/\p{Cc}/gu, '')
    .slice(0, USER_AGENT_LENGTH)
    .toWellFormed();
}
