import { Logger } from '@nestjs/common';

/**
 * Loads an optional peer dependency. `load` is a `require` of its own, which bundlers can see.
 * @param withoutIt what is missing then: a peer that is installed and broken is logged with it, and otherwise throws
 * @returns null where the peer is not installed
 */
export function loadOptionalPeer<Peer>(name: string, load: () => unknown, withoutIt?: string): Peer | null {
  try {
    return load() as Peer;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'MODULE_NOT_FOUND' && message.startsWith(`Cannot find module '${name}'`);
    if (isMissing) return null;
    if (withoutIt === undefined) throw error;
    new Logger('AuthModule').warn(`${name} cannot be loaded: ${withoutIt}`);
    return null;
  }
}
