export const DEVICE_TYPES = ['desktop', 'mobile', 'tablet', 'bot', 'other'] as const;

/** The kind of a device. `other` means an unknown device or a device of any other kind. */
export type DeviceType = (typeof DEVICE_TYPES)[number];

/** The device of a client, detected from its User-Agent. Each name is `Other` if unknown. */
export interface DeviceInfo {
  readonly deviceType: DeviceType;
  /** `Windows`, `Android`, `iOS`, `macOS`, `Linux`, ... */
  readonly osFamily: string;
  /** `Chrome`, `Chrome Mobile`, `Firefox`, `Safari`, ... */
  readonly browserFamily: string;
  /** `Samsung SM-G991B`, `iPhone`, `Mac`, ... */
  readonly deviceName: string;
}

/** A device that is unknown or not tracked. */
export const UNKNOWN_DEVICE: DeviceInfo = Object.freeze({
  deviceType: 'other',
  osFamily: 'Other',
  browserFamily: 'Other',
  deviceName: 'Other',
});

/** Returns the result of a detector with cleaned names. @throws TypeError if the result is not a `DeviceInfo` */
export function checkedDevice(found: unknown): DeviceInfo {
  if (found instanceof Promise) {
    // Nothing awaits the promise, and an unhandled rejection would end the process.
    found.catch(() => undefined);
    throw new TypeError('detect() returned a Promise. Return a DeviceInfo synchronously.');
  }
  if (typeof found !== 'object' || found === null) throw new TypeError(`detect() returned ${String(found)}.`);
  const { deviceType, osFamily, browserFamily, deviceName } = found as DeviceInfo;
  if (!DEVICE_TYPES.includes(deviceType)) {
    throw new TypeError(`detect() returned no known deviceType: '${DEVICE_TYPES.join("', '")}'.`);
  }
  const names = { osFamily, browserFamily, deviceName };
  for (const [property, name] of Object.entries(names) as [keyof typeof names, unknown][]) {
    if (typeof name !== 'string') throw new TypeError(`detect() returned no ${property}. Return a string.`);
    const printable = name.replace(/\p{Cc}/gu, '').slice(0, 64);
    names[property] = printable.trim().toWellFormed() || 'Other';
  }
  return { deviceType, ...names };
}

/**
 * Detects the device of a client from its User-Agent. Set the option `deviceDetector` to a class that extends this one,
 * or to an instance. If it fails, the error is logged at most once a minute, and the device is stored as unknown.
 */
export abstract class DeviceDetector {
  /**
   * Returns the device. At most 64 characters of a name are stored.
   * @param userAgent untrusted text of at most 500 characters, without control characters
   */
  abstract detect(userAgent: string): DeviceInfo;
}
