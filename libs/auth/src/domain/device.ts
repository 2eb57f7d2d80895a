/** The kinds of device. */
export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet', 'bot', 'other'] as const;

/** `desktop`, `mobile`, `tablet`, `bot`, or `other` for what is none of them or not known. */
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** What is known of the client from its User-Agent. Each name is `Other` when not identified. */
export interface DeviceInfo {
  readonly deviceType: DeviceType;
  /** `Windows`, `Android`, `iOS`, `macOS`, `Linux`, ... */
  readonly osFamily: string;
  /** `Chrome`, `Chrome Mobile`, `Firefox`, `Safari`, ... */
  readonly browserFamily: string;
  /** `Samsung SM-G991B`, `iPhone`, `Mac`, ... */
  readonly deviceName: string;
}

/** The device of a client that is not known or not tracked. */
export const UNKNOWN_DEVICE: DeviceInfo = Object.freeze({
  deviceType: 'other',
  osFamily: 'Other',
  browserFamily: 'Other',
  deviceName: 'Other',
});
