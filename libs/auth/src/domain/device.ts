/** The kinds of device that a session may come from. */
export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet', 'bot', 'other'] as const;

/** `desktop`, `mobile`, `tablet`, `bot`, or `other` for what is none of them or not known. */
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** What a User-Agent tells about the client, in the words of the person who owns it. */
export interface Device {
  readonly deviceType: DeviceType;
  /** `Windows`, `Android`, `iOS`, `macOS`, `Linux`, ...; `Other` when not identified. */
  readonly osFamily: string;
  /** `Chrome`, `Chrome Mobile`, `Firefox`, `Safari`, ...; `Other` when not identified. */
  readonly browserFamily: string;
  /** `Samsung SM-G991B`, `iPhone`, `Mac`, ...; `Other` when not identified. */
  readonly deviceName: string;
}

/** The device of a client that is not known or not tracked. */
export const UNKNOWN_DEVICE: Device = Object.freeze({
  deviceType: 'other',
  osFamily: 'Other',
  browserFamily: 'Other',
  deviceName: 'Other',
});
