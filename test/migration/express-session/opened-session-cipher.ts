import type { OpenedSession } from 'nestjs-session-auth';
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function digestOf(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex');
}

/** Encrypts tokens so that only the holder of the former session id can read them. */
export function encrypt(opened: OpenedSession, sessionId: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(sessionId), iv);
  const text = Buffer.concat([cipher.update(JSON.stringify(opened)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64');
}

export function decrypt(stored: string, sessionId: string): OpenedSession {
  const bytes = Buffer.from(stored, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(sessionId), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  const opened = JSON.parse(text.toString()) as Record<keyof OpenedSession, string>;
  return {
    ...opened,
    accessTokenExpiresAt: new Date(opened.accessTokenExpiresAt),
    refreshTokenExpiresAt: new Date(opened.refreshTokenExpiresAt),
  };
}

function keyOf(sessionId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sessionId, '', 'taken over session', 32));
}
