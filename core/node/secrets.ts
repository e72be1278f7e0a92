import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * A secret of 256 random bits in letters, digits, "-" and "_", so that it fits into an address, a cookie and the name
 * of a subprotocol.
 */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a given text is the secret. The time tells neither where they differ nor how long the secret is. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(digest(given), digest(secret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
