import { randomBytes, randomUUID } from 'node:crypto';
import { ACCESS_SECRET_BYTES, formatAccessToken } from '../../../libs/auth/src/tokens/tokens';

/** Creates an access token that is well-formed, including its checksum, but was never issued. */
export function unknownAccessToken(): string {
  return formatAccessToken(randomUUID(), randomBytes(ACCESS_SECRET_BYTES));
}
