import { randomBytes, randomUUID } from 'node:crypto';
import { ACCESS_SECRET_BYTES, formatAccessToken } from '../../../libs/auth/src/domain/tokens';

/** Creates a well-formed access token, checksum included, that was never issued. */
export function unknownAccessToken(): string {
  return formatAccessToken(randomUUID(), randomBytes(ACCESS_SECRET_BYTES));
}
