import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { randomSecret } from '../../core/node/secrets.ts';

/** Challenges that wait for their proof. With more of them, the oldest end. */
const maximumChallenges = 1_000;
const challengeMs = 60_000;

/** SHA-256 of a secret, which suffices to check it and not to present it. */
export function hashOf(secret: string | Buffer): string {
  return createHash('sha256').update(secret).digest('base64url');
}

export function isHashOf(hash: string, secret: string | Buffer): boolean {
  return timingSafeEqual(Buffer.from(hashOf(secret)), Buffer.from(hash));
}

/**
 * Whether a proof shows that its sender has a session's key, which it does not reveal: proof = key XOR
 * HMAC(SHA-256(key), challenge), as in RFC 5802, section 3. Whoever receives it, such as another server that took the
 * port, learns neither the key nor a proof for another challenge.
 * @param keyHash SHA-256 of the key's 32 bytes, in base64url
 * @param proof 32 bytes in base64url
 */
export function isProofOf(keyHash: string, challenge: string, proof: string): boolean {
  const mask = createHmac('sha256', Buffer.from(keyHash, 'base64url')).update(challenge).digest();
  const given = Buffer.from(proof, 'base64url');
  if (given.length !== mask.length) return false;
  return isHashOf(keyHash, Buffer.from(mask.map((byte, index) => byte ^ given[index])));
}

/** Random texts, each for one proof. */
export class Challenges {
  readonly #endsMs = new Map<string, number>();

  create(nowMs: number = performance.now()): string {
    const [oldest] = this.#endsMs.keys();
    if (this.#endsMs.size >= maximumChallenges) this.#endsMs.delete(oldest);
    const challenge = randomSecret();
    this.#endsMs.set(challenge, nowMs + challengeMs);
    return challenge;
  }

  /** Whether the challenge was made here, not used before, and not too long ago. */
  use(challenge: string, nowMs: number = performance.now()): boolean {
    const endMs = this.#endsMs.get(challenge);
    this.#endsMs.delete(challenge);
    return endMs !== undefined && nowMs <= endMs;
  }
}
