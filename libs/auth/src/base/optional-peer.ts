import { Logger } from '@nestjs/common';

/**
 * Returns an optional peer dependency, or null if it is not installed or, with `consequence`, cannot be loaded.
 * @param load calls `require` with a literal name, so that bundlers find the dependency
 * @param consequence completes the warning about a peer that cannot be loaded. If omitted, the error is thrown
 */
export function loadOptionalPeer<Peer>(name: string, load: () => unknown, consequence?: string): Peer | null {
  try {
    return load() as Peer;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [firstLine = ''] = String(message).split('\n', 1);
    const missing = firstLine.replace(/^.*? tried to access /, '');
    const isNamed = new RegExp(`(?<![\\w@/\\\\.-])${name}(?![\\w/\\\\-])`).test(missing);
    if (isNamed && /^(ERR_)?MODULE_NOT_FOUND$/.test(String(code))) return null;
    if (consequence === undefined) throw error;
    new Logger('AuthModule').warn(`${name} is installed but cannot be loaded (${message}), so ${consequence}`);
    return null;
  }
}
