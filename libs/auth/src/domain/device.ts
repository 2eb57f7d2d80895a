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

const NAME_LENGTH = 64;

/**
 * Returns what a device detector has found as it may be stored: names of at most 64 characters, without control characters.
 * @throws TypeError for what is no `DeviceInfo`
 */
export function checkedDevice(found: unknown): DeviceInfo {
  if (typeof found !== 'object' || found === null) throw new TypeError(`detect() returned ${String(found)}.`);
  if (typeof (found as PromiseLike<unknown>).then === 'function') {
    // Nobody waits for it, and a rejection that is not handled would end the process.
    Promise.resolve(found).catch(() => undefined);
    throw new TypeError('detect() returned a Promise. Return the device itself.');
  }
  const { deviceType, osFamily, browserFamily, deviceName } = found as Readonly<Record<keyof DeviceInfo, unknown>>;
  if (!DEVICE_TYPES.includes(deviceType as DeviceType)) {
    const types = DEVICE_TYPES.map((type) => `'${type}'`).join(', ');
    throw new TypeError(`detect() returned a deviceType that is unknown. Return one of ${types}.`);
  }
  return {
    deviceType: deviceType as DeviceType,
    osFamily: checkedName('osFamily', osFamily),
    browserFamily: checkedName('browserFamily', browserFamily),
    deviceName: checkedName('deviceName', deviceName),
  };
}

function checkedName(property: keyof DeviceInfo, name: unknown): string {
  if (typeof name !== 'string') throw new TypeError(`detect() returned a ${property} that is not a string.`);
  return (
    name
      .replace(/\p{Cc}/gu, '')
      .slice(0, NAME_LENGTH)
      .trim()
      .toWellFormed() || 'Other'
  );
}
