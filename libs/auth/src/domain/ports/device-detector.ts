import type { Device } from '../device';

/**
 * Tells the device, system and browser of a client from its User-Agent.
 *
 * Bind your own with the option `deviceDetector`. The text is hostile input, at most 500 characters long with the
 * control characters removed; a detector that throws counts as one that found nothing.
 */
export abstract class DeviceDetector {
  /** Never asked for an empty User-Agent. */
  abstract detect(userAgent: string): Device;
}
