/** Wrong attempts that an address may make at once, and how fast it gets new ones. */
const burst = 20;
const refillMs = 3_000;
/** How often the terminal hears of the same address. */
const noticeEveryMs = 60_000;
/** Addresses to remember. With more of them, the oldest are forgotten. */
const maximumAddresses = 1_000;

interface Attempts {
  left: number;
  atMs: number;
  noticedMs: number;
}

/**
 * Counts wrong tokens, cookies and keys by address. Beyond the limit they are not answered with a reason, and the
 * terminal is told. A right one is always accepted: a secret has 256 bits, so no rate of guesses matters, and all users
 * of a machine share the address 127.0.0.1, so a limit for right ones would let any of them lock the others out.
 */
export class WrongAttempts {
  readonly #attempts = new Map<string, Attempts>();
  readonly #notice: (text: string) => void;

  constructor(notice: (text: string) => void) {
    this.#notice = notice;
  }

  /** Counts one. @returns whether the address is beyond the limit */
  count(address: string, nowMs: number = performance.now()): boolean {
    const before = this.#attempts.get(address) ?? { left: burst, atMs: nowMs, noticedMs: -Infinity };
    const left = Math.min(burst, before.left + (nowMs - before.atMs) / refillMs) - 1;
    const isBeyond = left < 0;
    const isNoticed = isBeyond && nowMs - before.noticedMs >= noticeEveryMs;
    if (isNoticed) {
      this.#notice(
        `Warning: ${address} sends wrong tokens, cookies or keys. Tutti refuses them; no guess of 256 bits succeeds.`,
      );
    }
    this.#attempts.delete(address);
    this.#attempts.set(address, {
      left: Math.max(0, left),
      atMs: nowMs,
      noticedMs: isNoticed ? nowMs : before.noticedMs,
    });
    if (this.#attempts.size > maximumAddresses) this.#attempts.delete([...this.#attempts.keys()][0]);
    return isBeyond;
  }
}
